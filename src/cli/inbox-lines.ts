import type { InboxAnswered, InboxItem } from '../contracts/inbox.js';
import { shownId } from '../domain/feedback-list.js';

/** Lines of what is approved that a list shows of each request. */
const mostLines = 40;

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** A time as a person says it: in the largest unit of which there are two, else in seconds. */
export const timeWords = (ms: number): string => {
  const [size, name] = units.find(([each]) => ms >= 2 * each) ?? [1_000, 's'];
  return `${Math.floor(ms / size)} ${name}`;
};

const expiryWords = ({ request: { expires_at: at, on_timeout: then } }: InboxItem, now: number): string => {
  if (at === null) return 'never expires';
  const left = Date.parse(at) - now;
  return `${left > 0 ? `expires in ${timeWords(left)}` : 'expires now'}${then === null ? '' : `, then ${then}`}`;
};

const whoWords = ({ approvals, needed, approved_by: given, may_answer: able, may_not_approve: starter }: InboxItem) => [
  ...(needed > 1 ? [`${approvals} of ${needed} approvals${given.length > 0 ? `: ${given.join(', ')}` : ''}`] : []),
  ...(able ? [`may answer: ${able.join(', ')}`] : []),
  ...(starter === null ? [] : [`may not approve: ${starter}, who started it`]),
];

/** Exactly what is approved: the digest is made of nothing else. */
const contentLines = ({ work_id: id, content, request }: InboxItem): string[] => {
  if (request.digest === null) return [];
  if (content === null) return [`approves what is shown with ${id} itself`];
  const lines = JSON.stringify(content, null, 2).split('\n');
  const rest = lines.length - mostLines;
  return [
    'approves exactly this:',
    ...lines.slice(0, mostLines).map((line) => `  ${line}`),
    ...(rest > 0 ? [`  … and ${rest} more lines: parley inbox --json has them all`] : []),
  ];
};

/** One open request: what is asked, exactly what is approved, and what can be answered with what it does. */
export const itemLines = (item: InboxItem, now: number): string[] => {
  const { work_id: id, name, kind, tenant, request } = item;
  const { type, options, digest } = request;
  return [
    `${id}${name === null ? '' : ` (${shownId(name)})`}  ${kind} ${type}  asked ${timeWords(item.age_ms)} ago, ${expiryWords(item, now)}${tenant === 'default' ? '' : `  [${tenant}]`}`,
    ...request.prompt.split('\n').map((line) => `  ${line}`),
    ...contentLines(item).map((line) => `  ${line}`),
    ...options.map(
      ({ value, effect }, index) => `    ${index + 1} ${value.padEnd(16)}${effect === '' ? '' : `  ${effect}`}`,
    ),
    ...(options.length === 0 ? ['    (free text)'] : []),
    ...whoWords(item).map((line) => `  ${line}`),
    `  ${request.request_id}${digest === null ? '' : `, sha256 ${digest}`}`,
  ];
};

/** What became of many answers, a line each. */
export const answeredLines = ({ applied, warnings, errors }: InboxAnswered): string[] => [
  ...applied.map(({ work_id: id, response, repeated, outcome, approvals, needed }) => {
    const how = outcome === 'pending' ? `counted, ${approvals} of ${needed} approvals` : outcome.replaceAll('_', ' ');
    return `✓ ${id}: ${response} (${how}${repeated ? '; it had been given before' : ''})`;
  }),
  ...warnings.map((warning) => `! ${warning}`),
  ...errors.map(({ work_id: id, message }) => `✗ ${id === null ? '' : `${id}: `}${message}`),
];
