import type { Json } from '../../src/contracts/frames.js';
import { checkAgentCommand } from '../../src/agent-commands.js';
import { readAnswer } from '../../src/domain/agent/reading.js';
import { closed } from '../../src/domain/agent/results.js';
import {
  openTurn,
  type TurnEffect,
  type TurnRead,
  type TurnSetup,
  type TurnState,
} from '../../src/domain/agent/state.js';
import { stepTurn, type TurnEvent, type View } from '../../src/domain/agent/turn.js';
import { approximateTokens } from '../../src/domain/budget.js';
import { addAgent } from '../../src/domain/team/context/agents.js';
import { type ContextBook, emptyBook, messagesOf } from '../../src/domain/team/context/book.js';
import { write } from '../../src/domain/team/context/write.js';
import type { ModelCall } from '../../src/domain/team/model-call.js';
import { mend } from '../../activities/mend.js';

type EffectOf = { [E in TurnEffect as E['type']]: E };

/** A turn played by hand against a real context: its reads are answered at once, or with the next answer of its model. */
export class TurnPlay {
  turn: TurnState;
  effects: TurnEffect[] = [];
  book: ContextBook;
  /** What was read for the call of the model that is under way. */
  asked: View | null = null;

  constructor(over: Partial<TurnSetup> = {}, windowTokens: number | null = null) {
    const sharing = { sessionOf: null, windowOf: null, maxTokens: null };
    const empty = addAgent(emptyBook, { agentId: 'a', parent: null, sharing }, windowTokens);
    const written = write(empty, 'a', [{ role: 'user', content: 'Which?' }], approximateTokens);
    if (!written.ok) throw new Error(written.message);
    this.book = written.book;
    const view = { ids: written.messageIds, add: messagesOf(this.book, 'a') };
    this.turn = openTurn({ teamId: 't', agentId: 'a', run: 1, maxRounds: 10, approvals: [], ...over }, view);
    this.take({ type: 'START' });
  }

  take(event: TurnEvent): this {
    const { turn, effects } = stepTurn(JSON.parse(JSON.stringify(this.turn)) as TurnState, event);
    this.turn = turn;
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.type === 'read') this.take(this.read(effect));
      if (effect.type !== 'ask_model') continue;
      const answer = effect.read ? this.read(effect.read) : null;
      this.asked = answer?.type === 'VIEW' ? answer : null;
      if (answer?.type === 'NO_ROOM') this.take(answer);
    }
    return this;
  }

  private read({ step, wrote, has, commands = [] }: TurnRead): Extract<TurnEvent, { type: 'VIEW' | 'NO_ROOM' }> {
    const results = commands.map(({ callId, command }) => [callId, `${command.tool} done`] as const);
    const written = write(this.book, 'a', closed(wrote, new Map(results)), approximateTokens);
    if (!written.ok) return { type: 'NO_ROOM', step, code: 'context_full', message: written.message };
    this.book = written.book;
    const messages = messagesOf(this.book, 'a');
    const add = messages.filter(({ messageId }) => !has.includes(messageId));
    return { type: 'VIEW', step, view: { ids: messages.map(({ messageId }) => messageId), add } };
  }

  says(text: string, calls: ModelCall[] = [], others: string[] = ['read_file'], tokens = 10): this {
    const { asked } = this;
    const round = this.turn.round + (asked ? 1 : 0);
    const registry = { check: checkAgentCommand, mend, subagentsEnabled: true, allowed: null };
    const reading = readAnswer({ text, calls }, `call-1-${round}`, registry, others);
    const usage = { tokens, usdMicros: 0 };
    this.asked = null;
    return this.take({ type: 'SAID', round, reading, answer: null, usage, ...(asked && { asked }) });
  }

  called(callId: string, answer: Json): this {
    return this.take({ type: 'CALLED', callId, answer });
  }

  done<T extends TurnEffect['type']>(type: T): EffectOf[T][] {
    return this.effects.filter((effect): effect is EffectOf[T] => effect.type === type);
  }

  /** The context as a list of who said what. */
  get said(): string[] {
    return messagesOf(this.book, 'a').map(({ role, content }) => `${role}: ${content}`);
  }
}
