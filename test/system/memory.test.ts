import { join } from 'node:path';
import { hashingEmbedder } from '../../activities/memory/hashing-embedder.js';
import { SqliteMemory } from '../../activities/memory/sqlite.js';
import type { Ratings, TraceRecord, Traces } from '../../src/contracts/memory.js';
import type { Answer } from '../support/product.js';
import { aTrace, change } from '../activities/memory/traces.js';
import { aDebate, objects, removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

const bodyOf = <T>({ status, body }: Answer): T => {
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

describeWithSandbox('a debate that has ended', () => {
  test('is remembered: its trace is found and shown, and its personas have ratings', async () => {
    const task = 'Drop the customers table of the shop';
    const vetoed = aDebate({ task, tenant: 'shop', says: { security: [objects(0.95, 'it destroys data')] } });
    const { id, result } = await product.debates.run(vetoed);
    expect(result).toMatchObject({ decision: 'VETO', memory: { sqlite: true, mongo: false } });

    const { items } = bodyOf<Traces>(await product.get('/v1/memory?tenant=shop&query=customers%20table'));
    expect(items).toMatchObject([{ work_id: id, task, outcome: 'blocked', decision: 'VETO', verified: false }]);
    const trace = bodyOf<TraceRecord>(await product.get(`/v1/memory/${items[0]!.trace_id}?tenant=shop`));
    expect(trace).toMatchObject({ trace_id: result?.trace_id, votes: expect.arrayContaining([]) });

    const { items: ratings } = bodyOf<Ratings>(await product.get('/v1/ratings?tenant=shop'));
    expect(ratings[0]).toEqual({ persona_id: 'security', elo: 1225, matches: 1, successes: 0 });
    expect(ratings.at(-1)).toMatchObject({ persona_id: 'solution', matches: 1 });
    expect(ratings).toHaveLength(5);
  });
});

describe('a session with elo_weights', () => {
  test('weighs its lanes by the ratings that memory has when it starts', async () => {
    const memory = new SqliteMemory(join(product.data, 'memory.db'), {
      embedder: hashingEmbedder,
      onError: () => undefined,
    });
    await memory.store(
      aTrace('ratings', { tenant: 'duel', elo_changes: [change('strong', 600), change('weak', -600)] }),
    );
    await memory.close();
    const lane = (persona_id: string, answer: string) => ({
      lane_id: persona_id,
      adapter: { kind: 'scripted' as const, script: [{ final: answer }] },
    });
    const status = await product.run({
      prompt: 'Which colour?',
      tenant: 'duel',
      lanes: [lane('weak', 'red'), lane('strong', 'blue'), lane('unknown', 'green')],
      policy: { elo_weights: true, threshold: 0.5, early_exit: { enabled: false } },
    });
    expect(status.result).toMatchObject({
      answer: 'blue',
      for: [{ lane_id: 'strong', weight: 1.5 }],
      against: [
        { lane_id: 'weak', weight: 0.5 },
        { lane_id: 'unknown', weight: 1 },
      ],
    });
  });
});
