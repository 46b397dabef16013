import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

type Saved = ConstructorParameters<typeof SqliteSaver>[0];

/** The saver's own driver has a native part that is not built here; this is what it uses of it, over the module that memory uses. */
const driverOver = (database: DatabaseSyncInstance): Saved => {
  const bound = (values: unknown[]): null[] => values.map((value) => (value ?? null) as null);
  return {
    pragma: (source: string) => database.prepare(`PRAGMA ${source}`).all(),
    exec: (source: string) => database.exec(source),
    prepare: (source: string) => {
      const statement = database.prepare(source);
      return {
        run: (...values: unknown[]) => statement.run(...bound(values)),
        get: (...values: unknown[]) => statement.get(...bound(values)),
        all: (...values: unknown[]) => statement.all(...bound(values)),
      };
    },
    transaction:
      (act: (...given: unknown[]) => unknown) =>
      (...given: unknown[]) => {
        database.exec('BEGIN');
        try {
          const result = act(...given);
          database.exec('COMMIT');
          return result;
        } catch (error) {
          database.exec('ROLLBACK');
          throw error;
        }
      },
  } as unknown as Saved;
};

interface Said {
  role: 'user' | 'assistant' | 'tool';
  content: string;
}

const Conversation = Annotation.Root({
  messages: Annotation<Said[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
  calls: Annotation<number>({ reducer: (_, now) => now, default: () => 0 }),
  most: Annotation<number>({ reducer: (_, now) => now, default: () => 1 }),
});

export interface Peer {
  /** One agent whose model is called so often, with a tool's result between each two calls. */
  ask(thread: string, calls: number): Promise<void>;
  /** Bytes of all that is saved. */
  bytes(): number;
  close(): void;
}

/** An agent of LangGraph with its own checkpointer, each step on disk before the next begins, as Temporal has it. */
export const openLangGraph = (file: string): Peer => {
  const database = new DatabaseSync(file);
  const saver = new SqliteSaver(driverOver(database));
  // Set up by the saver itself with the first call; what it saves is synced with each commit.
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  const graph = new StateGraph(Conversation)
    .addNode('model', (state) => ({
      messages: [{ role: 'assistant' as const, content: 'So it is.' }],
      calls: state.calls + 1,
    }))
    .addNode('tool', () => ({ messages: [{ role: 'tool' as const, content: '{"status":"ok"}' }] }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ calls, most }) => (calls < most ? 'tool' : END))
    .addEdge('tool', 'model')
    .compile({ checkpointer: saver });
  return {
    ask: async (thread, calls) => {
      const given = { messages: [{ role: 'user' as const, content: 'Is it so?' }], most: calls };
      const config = { configurable: { thread_id: thread }, recursionLimit: 10_000, durability: 'sync' as const };
      const { calls: made } = await graph.invoke(given, config);
      if (made !== calls) throw new Error(`${made} of ${calls} calls were made`);
    },
    bytes: () => {
      const { bytes } = database
        .prepare(
          `SELECT (SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints)
             + (SELECT coalesce(sum(length(value)), 0) FROM writes) AS bytes`,
        )
        .get() as { bytes: number };
      return bytes;
    },
    close: () => database.close(),
  };
};
