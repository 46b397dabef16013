import type { ExportRun, StoryEntry } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';
import { canonicalJson } from '../canonical-json.js';
import { isMembers, valueAt } from './changes.js';
import { ParleyError } from '../errors.js';

type Members = Record<string, Json>;
type Event = ExportRun['history']['events'][number];

/** Whose words an activity brings, by its name; any other is a step of the work itself. */
const models = new Set([
  'runLanes',
  'askAgent',
  'askRole',
  'judgeAnswers',
  'generateVersion',
  'scoreVersion',
  'runWorker',
  'scoreFanIn',
  'report',
]);
const commands = new Set(['runTask', 'undoTask', 'checkHealth']);
const people = new Set(['answer', 'feedback', 'frames']);

const partOf = (name: string): StoryEntry['part'] =>
  models.has(name) ? 'model' : commands.has(name) ? 'command' : people.has(name) ? 'person' : 'step';

const member = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((inner, name) => (isMembers(inner) ? inner[name] : undefined), value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The one member that holds what an event is about. */
const attributesOf = (event: Event): Members => {
  const found = Object.entries(event).find(([name]) => name.endsWith('EventAttributes'));
  return found && isMembers(found[1]) ? found[1] : {};
};

const summaryOf = (event: Event): string | null => {
  const summary = member(event, 'userMetadata', 'summary', '$json');
  return typeof summary === 'string' ? summary : null;
};

interface Told {
  runs: ExportRun[];
  story: StoryEntry[];
  setup: Json;
  request: Json;
  outcome: Members | null;
}

/** Replaces every payload of a list that can be read by a pointer to where `keep` has put its value. */
const pointed = (payloads: unknown, keep: (value: Json, index: number) => string | null): Json =>
  list(payloads).map((payload, index): Json => {
    if (!isMembers(payload) || !('$json' in payload)) return payload as Json;
    const { $json: value, ...rest } = payload;
    const pointer = keep(value ?? null, index);
    return pointer === null ? payload : { $at: pointer, ...rest };
  });

/** Tells the histories of a piece of work, and puts what was said in one place each, where a person finds and may edit it. */
export const toldOf = (runs: readonly ExportRun[]): Told => {
  const story: StoryEntry[] = [];
  let setup: Json = null;
  let request: Json = null;
  let outcome: Members | null = null;
  let setupText = '';

  const runOf = (run: ExportRun, first: boolean): ExportRun => {
    /** By the id of the event that scheduled it. */
    const activities = new Map<string, { name: string; summary: string | null }>();
    const tell = (
      event: Event,
      what: StoryEntry['what'],
      over: Partial<StoryEntry> & Pick<StoryEntry, 'part' | 'name'>,
      payloads: unknown,
    ): Json => {
      const values: Json[] = [];
      const place = story.length;
      const kept = pointed(payloads, (value) => `/story/${place}/values/${values.push(value) - 1}`);
      story.push({
        what,
        summary: summaryOf(event),
        at: text(event['eventTime']),
        temporal_run_id: run.temporal_run_id,
        event_id: Number(event.eventId),
        of_event_id: null,
        message: null,
        ...over,
        values,
      });
      return kept;
    };

    const eventOf = (event: Event): Event => {
      const attributes = attributesOf(event);
      const name = Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? '';
      const within = (members: Members): Event => ({ ...event, [name]: { ...attributes, ...members } });
      const withPayloads = (key: string, payloads: Json): Event =>
        attributes[key] === undefined || attributes[key] === null
          ? event
          : within({ [key]: { ...(attributes[key] as Members), payloads } });
      const scheduled = text(attributes['scheduledEventId']);
      const activity = activities.get(scheduled) ?? { name: '', summary: null };
      const ofActivity = {
        part: partOf(activity.name),
        name: activity.name,
        summary: activity.summary,
        of_event_id: Number(scheduled) || null,
      };
      switch (event.eventType.slice('EVENT_TYPE_'.length)) {
        case 'WORKFLOW_EXECUTION_STARTED': {
          const type = text(member(attributes, 'workflowType', 'name'));
          if (first) tell(event, 'started', { part: 'start', name: type }, []);
          const input = pointed(member(attributes, 'input', 'payloads'), (value, index) => {
            if (first && index === 0) {
              setup = value;
              setupText = canonicalJson(value);
            }
            if (first && index === 2) request = value;
            if (index === 0) return canonicalJson(value) === setupText ? '/setup' : null;
            return index === 2 && canonicalJson(value) === canonicalJson(request) ? '/request' : null;
          });
          return withPayloads('input', input);
        }
        case 'ACTIVITY_TASK_SCHEDULED': {
          const activityName = text(member(attributes, 'activityType', 'name'));
          const summary = summaryOf(event);
          activities.set(event.eventId, { name: activityName, summary });
          const asked = { part: partOf(activityName), name: activityName };
          return withPayloads('input', tell(event, 'asked', asked, member(attributes, 'input', 'payloads')));
        }
        case 'ACTIVITY_TASK_COMPLETED':
          return withPayloads('result', tell(event, 'answered', ofActivity, member(attributes, 'result', 'payloads')));
        case 'ACTIVITY_TASK_FAILED':
        case 'ACTIVITY_TASK_TIMED_OUT': {
          const message = text(member(attributes, 'failure', 'message')) || 'it took too long';
          tell(event, 'failed', { ...ofActivity, message }, []);
          return event;
        }
        case 'WORKFLOW_EXECUTION_SIGNALED': {
          const signal = text(attributes['signalName']);
          const told = { part: partOf(signal), name: signal };
          return withPayloads('input', tell(event, 'told', told, member(attributes, 'input', 'payloads')));
        }
        case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED': {
          const update = text(member(attributes, 'acceptedRequest', 'input', 'name'));
          const told = { part: partOf(update), name: update };
          const args = member(attributes, 'acceptedRequest', 'input', 'args');
          if (args === undefined) return event;
          const payloads = tell(event, 'told', told, member(args, 'payloads'));
          const accepted = attributes['acceptedRequest'] as Members;
          const input = { ...(accepted['input'] as Members), args: { ...(args as Members), payloads } };
          return within({ acceptedRequest: { ...accepted, input } });
        }
        case 'WORKFLOW_EXECUTION_COMPLETED': {
          tell(event, 'ended', { part: 'end', name: 'completed' }, []);
          return withPayloads('result', pointed(member(attributes, 'result', 'payloads'), keepOutcome));
        }
        case 'WORKFLOW_EXECUTION_FAILED': {
          const failure = attributes['failure'];
          const message = text(member(failure, 'message')) || null;
          tell(event, 'ended', { part: 'end', name: 'failed', message }, []);
          const info = member(failure, 'applicationFailureInfo');
          const details = member(info, 'details');
          if (!isMembers(failure) || !isMembers(info) || !isMembers(details)) return event;
          const payloads = pointed(details['payloads'], keepOutcome);
          const applicationFailureInfo = { ...info, details: { ...details, payloads } };
          return within({ failure: { ...failure, applicationFailureInfo } });
        }
        case 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW':
          tell(event, 'continued', { part: 'end', name: 'continued as new' }, []);
          return event;
        case 'WORKFLOW_EXECUTION_CANCELED':
        case 'WORKFLOW_EXECUTION_TERMINATED':
        case 'WORKFLOW_EXECUTION_TIMED_OUT': {
          const name = event.eventType.slice('EVENT_TYPE_WORKFLOW_EXECUTION_'.length).toLowerCase().replace('_', ' ');
          tell(event, 'ended', { part: 'end', name }, []);
          return event;
        }
        default:
          return event;
      }
    };
    return { ...run, history: { events: run.history.events.map(eventOf) } };
  };

  const keepOutcome = (value: Json, index: number): string | null => {
    if (index > 0 || !isMembers(value)) return null;
    outcome = value;
    return '/outcome';
  };

  const told = runs.map((run, index) => runOf(run, index === 0));
  return { runs: told, story, setup, request, outcome };
};

/**
 * A value of a history with each {"$at": pointer} replaced by {"$json": what is there}.
 * @throws ParleyError invalid_request where nothing is at a pointer
 */
export const inlined = (value: Json, document: unknown, where: string): Json => {
  if (Array.isArray(value)) return value.map((item, index) => inlined(item, document, `${where}[${index}]`));
  if (!isMembers(value)) return value;
  // What a payload holds is a person's, and may look like anything.
  if ('$json' in value) return value;
  const { $at: pointer, ...rest } = value;
  if (typeof pointer !== 'string')
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, inlined(inner, document, `${where}.${name}`)]),
    );
  const found = valueAt(document, pointer);
  if (found === undefined)
    throw new ParleyError('invalid_request', `${where} refers to ${pointer}, and nothing is there.`);
  return { $json: found as Json, ...rest };
};
