import {
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  sleep,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { agentTools } from '../src/domain/team/actions/tools.js';
import { noAmount } from '../src/domain/budget.js';
import type { ContextView } from '../src/domain/team/contexts.js';
import type { ReadAnswer, ReadWord, TeamEffect, TeamEvent, TeamWord, TurnWord } from '../src/domain/team/effects.js';
import { agentOf, type TeamState } from '../src/domain/team/state.js';
import { grantedTools } from '../src/domain/team/tool-use.js';
import { noPlace, type ToolPlace, turnStart, turnWorkflowId } from '../src/domain/team/turn-start.js';
import type { agent, TurnEnded } from './agent.js';
import { agentWorkflowType, teamSignal } from './messages.js';
import { Outbox } from './outbox.js';
import { teamUpkeepOn } from './options.js';
import { rootMessage } from './work.js';

type RunTurn = Extract<TeamEffect, { type: 'run_turn' }>;

interface Turn {
  agentId: string;
  run: number;
  /** Settles when its workflow can be told something. */
  started: Promise<void>;
  hasStarted: boolean;
  words: Outbox<TeamWord>;
  /** Whether it tells its end by a signal, as the run of the team that has started it may be gone then. */
  tellsEnd: boolean;
}

/** How long the end of a team waits for turns that were stopped: what they had said and used is worth knowing. */
const stopWaitMs = 10_000;
/** How often a team looks whether turns are there that another run of it has started. */
const watchMs = 600_000;

export interface AgentTurnsOptions {
  state: () => TeamState;
  epoch: () => number;
  /** Whether nothing that comes is taken any more. */
  isOver: () => boolean;
  /** Where tools work that are not about agents. */
  place: () => Promise<ToolPlace>;
  push: (event: TeamEvent) => void;
}

const teamTools = new Set<string>(agentTools.map(({ name }) => name));

/**
 * The turns of a team's agents: each is a child workflow that outlives the run of the team that has started it. As long as that
 * run lives it hears of the end as the child's result; before it continues as new it has every child tell its end by a signal.
 */
export class AgentTurns {
  private readonly underWay = new Map<number, Turn>();
  /** Reads that came as updates, until they are answered. */
  private readonly reading = new Map<TeamEvent, (answer: ReadAnswer) => void>();
  /** What the team takes now. */
  private taking: TeamEvent | null = null;
  private telling = 0;
  private isMoving = false;
  private isWatching = false;
  private asked: Promise<ToolPlace> | null = null;
  /** What the next run does first: turns that would begin while this one gives way, and what they are to be told. */
  readonly left: TeamEffect[] = [];

  constructor(private readonly options: AgentTurnsOptions) {}

  /** Whether a run that begins now would miss something. */
  get isBusy(): boolean {
    if (this.telling > 0) return true;
    for (const { hasStarted, tellsEnd, words } of this.underWay.values())
      if (!hasStarted || !tellsEnd || !words.isEmpty) return true;
    return false;
  }

  perform(effect: TeamEffect): void {
    if (this.isMoving && this.leave(effect)) return;
    if (this.answersRead(effect)) return;
    switch (effect.type) {
      case 'run_turn':
        return this.begin(effect);
      case 'hold_turn':
        return this.tell(effect.run, { type: 'HOLD' });
      case 'go_on':
        return this.tell(effect.run, { type: 'GO_ON', ...timeOf(effect) });
      case 'stop_turn':
        return this.tell(effect.run, { type: 'STOP', message: null, text: null });
      case 'deliver': {
        const { from, channel, content } = effect;
        return this.tell(effect.run, { type: 'MAIL', from, channel, content });
      }
      case 'answer_read':
        return this.tell(effect.run, wordOf(effect));
      case 'allow_call':
        return this.tell(effect.run, { type: 'ALLOWED', callId: effect.callId, ...timeOf(effect) });
      case 'answer_call': {
        const { callId, answer } = effect;
        return this.tell(effect.run, { type: 'CALLED', callId, answer });
      }
      case 'audit':
      case 'answer_wait':
      case 'ask_lite':
      case 'forget_agent':
      case 'defer_read':
        return;
    }
  }

  /**
   * A run that gives way begins no turns: among many there would always be one that has only begun, and the run would never end.
   * @returns whether the effect is the next run's
   */
  private leave(effect: TeamEffect): boolean {
    if (effect.type === 'run_turn' && 'view' in effect.asked) {
      this.left.push(effect);
      return true;
    }
    if (!('run' in effect)) return false;
    const isOf = (other: TeamEffect): boolean => 'run' in other && other.run === effect.run;
    if (!this.left.some(isOf)) return false;
    if (effect.type !== 'stop_turn') this.left.push(effect);
    else {
      this.left.splice(0, this.left.length, ...this.left.filter((other) => !isOf(other)));
      const { agentId, run } = effect;
      const outcome = { type: 'stopped' as const, message: null };
      this.options.push({ type: 'ENDED', agentId, run, outcome, text: null, usage: noAmount });
    }
    return true;
  }

  /** A read whose turn waits for the answer: what cannot be said at once is told later. */
  async read({ epoch, event }: ReadWord): Promise<ReadAnswer> {
    if (epoch !== this.options.epoch()) return stopWord;
    if (this.options.isOver()) return { ...stopWord, message: 'its team has ended' };
    return await new Promise((resolve) => {
      this.reading.set(event, resolve);
      this.options.push(event);
    });
  }

  begins(event: TeamEvent): void {
    this.taking = event;
  }

  hasTaken(event: TeamEvent): void {
    this.taking = null;
    if (event.type === 'READ') this.answer(event, { type: 'LATER', step: event.step });
  }

  /** Whether an effect is the answer to the read that is taken now. */
  private answersRead(effect: TeamEffect): boolean {
    const { taking } = this;
    if (taking?.type !== 'READ' || !('run' in effect) || effect.run !== taking.run) return false;
    const { step } = taking;
    switch (effect.type) {
      case 'answer_read':
        return effect.step === step && this.answer(taking, wordOf(effect));
      case 'defer_read':
        return this.answer(taking, { type: 'WAITS', step });
      case 'stop_turn':
        return this.answer(taking, { type: 'STOP', message: null, text: null });
      default:
        return false;
    }
  }

  private answer(event: TeamEvent, answer: ReadAnswer): boolean {
    const resolve = this.reading.get(event);
    resolve?.(answer);
    return this.reading.delete(event);
  }

  /** What a turn says. One that a team of before has started is told to stop. */
  hear({ epoch, events }: TurnWord): void {
    for (const event of events) {
      if (epoch === this.options.epoch()) {
        if (event.type === 'ENDED') this.underWay.delete(event.run);
        this.options.push(event);
      } else if (event.type !== 'ENDED') void this.tellWorkflow(this.idOf(event.agentId, event.run, epoch), [stopWord]);
    }
  }

  /** Turns that an earlier run of the team has started tell their ends by signals. */
  recover(runs: readonly Pick<Turn, 'agentId' | 'run'>[]): void {
    for (const { agentId, run } of runs)
      this.underWay.set(run, { ...this.newTurn(agentId, run), hasStarted: true, tellsEnd: true });
    this.watch();
  }

  /** Has every turn tell its end by a signal from now on, so that this run may give way to another. */
  move(): void {
    if (this.isMoving) return;
    this.isMoving = true;
    for (const turn of this.underWay.values()) if (turn.hasStarted && !turn.tellsEnd) void this.moveOne(turn);
  }

  /** Waits a while for turns that were stopped. */
  async close(): Promise<void> {
    if (this.underWay.size > 0) await condition(() => this.underWay.size === 0, stopWaitMs);
  }

  private idOf(agentId: string, run: number, epoch = this.options.epoch()): string {
    return turnWorkflowId(this.options.state().setup.id, agentId, run, epoch);
  }

  private async moveOne(turn: Turn): Promise<void> {
    // One that cannot be told has ended: its result is on its way.
    if (await this.tellWorkflow(this.idOf(turn.agentId, turn.run), [{ type: 'MOVED' }])) turn.tellsEnd = true;
  }

  private tell(run: number, word: TeamWord): void {
    this.underWay.get(run)?.words.push(word);
  }

  private newTurn(agentId: string, run: number): Turn {
    const words = new Outbox<TeamWord>(async (said) => {
      await this.underWay.get(run)?.started;
      await this.tellWorkflow(this.idOf(agentId, run), said);
    });
    return { agentId, run, started: Promise.resolve(), hasStarted: false, tellsEnd: false, words };
  }

  private async tellWorkflow(workflowId: string, words: TeamWord[]): Promise<boolean> {
    this.telling += 1;
    try {
      await getExternalWorkflowHandle(workflowId).signal(teamSignal, words);
      return true;
    } catch (error) {
      log.info('a turn was not told, as it has ended', {
        workflowId,
        words: words.map(({ type }) => type),
        error: rootMessage(error),
      });
      return false;
    } finally {
      this.telling -= 1;
    }
  }

  private begin(effect: RunTurn): void {
    const { agentId, run, asked, model, timeLeftMs } = effect;
    if ('refused' in asked) return this.thrown(agentId, run, asked.code, asked.refused);
    const turn = this.newTurn(agentId, run);
    this.underWay.set(run, turn);
    turn.started = this.start(turn, asked.view, {
      ...(model !== undefined && { model }),
      ...(timeLeftMs !== undefined && { timeLeftMs }),
    });
  }

  /** Never rejects: a turn that cannot be started has failed. */
  private async start(turn: Turn, view: ContextView, call: Pick<RunTurn, 'model' | 'timeLeftMs'>): Promise<void> {
    const { agentId, run } = turn;
    const epoch = this.options.epoch();
    const beganAt = Date.now();
    try {
      const place = this.needsPlace(agentId) ? await this.place() : noPlace;
      const tellsEnd = this.isMoving;
      const { timeLeftMs } = call;
      const start = turnStart(this.options.state(), turn, view, {
        epoch,
        place,
        tellsEnd,
        ...call,
        // Folders of tools are made on the time of the call.
        ...(timeLeftMs !== undefined && { timeLeftMs: Math.max(0, timeLeftMs - (Date.now() - beganAt)) }),
      });
      if (!start) throw new Error(`agent ${agentId} was cleaned up before it began`);
      const child = await startChild<typeof agent>(agentWorkflowType, {
        workflowId: this.idOf(agentId, run),
        args: [start, null],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowTaskTimeout: '2 seconds',
        staticSummary: `${agentId}: ${start.role}`,
      });
      turn.hasStarted = true;
      turn.tellsEnd = tellsEnd;
      if (this.isMoving && !tellsEnd) void this.moveOne(turn);
      void this.hearEnd(turn, child.result());
    } catch (error) {
      this.underWay.delete(run);
      this.thrown(agentId, run, 'EAGENTDOWN', rootMessage(error));
    }
  }

  private async hearEnd(turn: Turn, result: Promise<TurnEnded>): Promise<void> {
    const { agentId, run } = turn;
    // One that has told its end by a signal is not heard twice.
    const isLast = (): boolean => this.underWay.get(run) === turn && this.underWay.delete(run);
    try {
      const ended = await result;
      if (isLast()) this.options.push(ended);
    } catch (error) {
      if (isLast()) this.thrown(agentId, run, 'EAGENTDOWN', rootMessage(error));
    }
  }

  /** Asked once, however many begin at once; where it fails, each of them has failed, and the next asks again. */
  private async place(): Promise<ToolPlace> {
    this.asked ??= this.options.place();
    try {
      return await this.asked;
    } catch (error) {
      this.asked = null;
      throw error;
    }
  }

  private needsPlace(agentId: string): boolean {
    const { agents, setup } = this.options.state();
    const { tools: allowed = null, template, adapter } = agentOf({ agents }, agentId)?.plan ?? {};
    const tools = grantedTools({ allowed, capabilities: template?.capabilities ?? null }) ?? [];
    const isProgram = adapter?.kind === 'command';
    return setup.workspace !== undefined || isProgram || tools.some((name) => !teamTools.has(name));
  }

  private thrown(agentId: string, run: number, code: string, message: string): void {
    const outcome = { type: 'thrown' as const, code, message };
    this.options.push({ type: 'ENDED', agentId, run, outcome, text: null, usage: noAmount });
  }

  /** What another run has started may be closed from outside without a word. */
  private watch(): void {
    if (this.isWatching || this.underWay.size === 0) return;
    this.isWatching = true;
    void this.lookForLost();
  }

  private async lookForLost(): Promise<void> {
    while (this.underWay.size > 0) {
      await sleep(watchMs, { summary: 'are the turns still there?' });
      const turns = [...this.underWay.values()].filter(({ tellsEnd }) => tellsEnd);
      const ids = new Map(turns.map((turn) => [this.idOf(turn.agentId, turn.run), turn]));
      for (const id of await teamUpkeepOn(null).lostTurns({ workflowIds: [...ids.keys()] })) {
        const turn = ids.get(id);
        if (!turn || !this.underWay.delete(turn.run)) continue;
        this.thrown(turn.agentId, turn.run, 'EAGENTDOWN', 'its workflow was closed from outside');
      }
    }
    this.isWatching = false;
  }
}

const stopWord = { type: 'STOP' as const, message: 'its team went back to an earlier point', text: null };

const timeOf = ({ timeLeftMs }: { timeLeftMs?: number | undefined }) =>
  timeLeftMs === undefined ? {} : { timeLeftMs };

const wordOf = ({ step, read, model, timeLeftMs }: Extract<TeamEffect, { type: 'answer_read' }>) =>
  'view' in read
    ? {
        type: 'VIEW' as const,
        step,
        view: read.view,
        ...(model !== undefined && { model }),
        ...timeOf({ timeLeftMs }),
      }
    : { type: 'NO_ROOM' as const, step, code: read.code, message: read.refused };
