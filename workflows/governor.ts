import { continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { governorDetails } from '../src/domain/governor/details.js';
import { stepGovernor } from '../src/domain/governor/governor.js';
import type { GovernorEvent, Refusal } from '../src/domain/governor/hear.js';
import {
  beginGovernor,
  type GovernorAnswer,
  type GovernorCarried,
  type GovernorSaid,
  type GovernorStart,
} from '../src/domain/governor/messages.js';
import { heardOfBusy, isForgettable, silentAt, silentWorkers } from '../src/domain/governor/presence.js';
import { isSaid } from '../src/domain/governor/said.js';
import type { Grant } from '../src/domain/governor/state.js';
import { providerStatus } from '../src/domain/governor/view.js';
import { exchangeUpdate, saidUpdate } from './governor-messages.js';
import { statusQuery } from './messages.js';
import { idleMs, OwnerRun, runsOnNewest, serve } from './owner.js';
import { refusal } from './work.js';

/** What a worker is to be told. */
interface Mail {
  granted: Grant[];
  refused: Refusal[];
}

class GovernorRun extends OwnerRun<GovernorEvent, Mail> {
  private readonly heard: Record<string, number>;
  private governor: GovernorCarried['governor'];

  constructor(start: GovernorStart) {
    super(() => ({ granted: [], refused: [] }));
    ({ governor: this.governor, heard: this.heard } = beginGovernor(start));
  }

  get carried(): GovernorCarried {
    return { governor: this.governor, heard: heardOfBusy(this.governor, this.heard) };
  }

  get isSpent(): boolean {
    const now = this.now();
    return now >= this.idleSince + idleMs && isForgettable(this.governor, now);
  }

  status = () => providerStatus(this.governor, this.now());

  take = (said: GovernorSaid): void => {
    if (!isSaid(said)) return; // sent by hand: workers say nothing else
    const { worker, settings, events } = said;
    this.heard[worker] = this.now();
    if (settings && JSON.stringify(settings) !== JSON.stringify(this.governor.settings))
      this.events.push({ type: 'settings', settings });
    this.events.push(...events);
  };

  exchange = async (said: GovernorSaid): Promise<GovernorAnswer> => {
    this.take(said);
    const { mail, heldMs, waitMs } = await this.answers.hold(said.worker);
    const now = this.now();
    return {
      runId: workflowInfo().runId,
      granted: mail.granted.map(({ id, expiresAt }) => ({ id, leftMs: expiresAt - now })),
      refused: mail.refused,
      heldMs,
      waitMs,
    };
  };

  step(): void {
    const now = this.now();
    const events = this.takeEvents(now, silentWorkers(this.governor, this.heard, now));
    const { governor, granted, refused, nextAt } = stepGovernor(this.governor, events, now, Math.random());
    this.governor = governor;
    const wanted = new Map(
      events.flatMap((event) => (event.type === 'wanted' ? [[event.demand.id, event.demand.worker]] : [])),
    );
    for (const grant of granted) this.answers.mailFor(grant.worker).granted.push(grant);
    for (const each of refused) this.answers.mailFor(wanted.get(each.id) ?? '').refused.push(each);
    const waiting = new Set(governor.queue.map(({ worker }) => worker));
    this.answers.release(waiting, (worker) => this.heard[worker] !== undefined);
    const silent = silentAt(governor, this.heard);
    this.alarm.setAt(Math.min(nextAt ?? Infinity, silent, Math.max(this.idleSince + idleMs, now + 60_000)));
    setCurrentDetails(governorDetails(this.status()));
  }
}

/**
 * Keeps one provider's limits over all workers (spec 08 "Provider governor"): they say what they want to call and what became
 * of it, and are told what may go out. No kind of work: it outlives all that it serves.
 */
export async function governor(start: GovernorStart): Promise<void> {
  if (start?.settings === undefined)
    throw refusal(
      'invalid_request',
      'a governor takes the limits of its provider; a worker that calls the provider starts it',
    );
  const run = new GovernorRun(start);
  setHandler(statusQuery, run.status, { description: "The provider's limits, what is used of them, and who waits" });
  setHandler(saidUpdate, run.take, { description: 'What a worker wants or has ended' });
  setHandler(exchangeUpdate, run.exchange, { description: 'The same, answered once a call of the worker may go out' });
  await serve(run, () => continueAsNew<typeof governor>({ ...start, carried: run.carried }));
}
runsOnNewest(governor);
