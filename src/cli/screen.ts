import { headline, percent } from './lines.js';
import { endedLane, type LaneView, type SessionView } from './view.js';

/** Where a screen is drawn; standard output in the product. */
export interface ScreenTarget {
  write: (text: string) => void;
  columns: number;
  rows: number;
}

const marks: Record<string, string> = { FINALIZED: '✓', FAILED: '✗', REJECTED: '✗', CANCELLED: '–', PAUSED: '‖' };
const paintEveryMs = 80;

/** The end of a text that still grows, on one line. */
export const tail = (text: string, width: number): string => {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > width ? `…${flat.slice(1 - width)}` : flat;
};

const laneLine = (lane: LaneView, nameWidth: number, columns: number): string => {
  const attempt = lane.attempt > 1 ? ` attempt ${lane.attempt}:` : '';
  const head = `${marks[lane.state] ?? '·'} ${lane.laneId.padEnd(nameWidth)} ${(lane.tier ?? '').padEnd(6)} ${lane.state.padEnd(9)}${attempt} `;
  const room = Math.max(10, columns - head.length - 1);
  return head + (lane.reason ?? (endedLane.has(lane.state) ? headline(lane.text, room) : tail(lane.text, room)));
};

const meter = (share: number): string => '█'.repeat(Math.round(share * 20)).padEnd(20, '░');

/** The session as it stands, a line per lane; lanes that still run come first when there is no room for all. */
export const frame = (view: SessionView, columns: number, rows: number): string[] => {
  const lanes = [...view.lanes.values()];
  const nameWidth = Math.max(4, ...lanes.map((lane) => lane.laneId.length));
  const room = Math.max(1, rows - 5);
  const shown =
    lanes.length <= room
      ? lanes
      : [
          ...lanes.filter((lane) => !endedLane.has(lane.state)),
          ...lanes.filter((lane) => endedLane.has(lane.state)),
        ].slice(0, room);
  const { provisional, revision, result } = view;
  return [
    `${meter(view.agreement)} agreement ${percent(view.agreement)}  ${view.state}`,
    ...shown.map((lane) => laneLine(lane, nameWidth, columns)),
    ...(shown.length < lanes.length ? [`  … and ${lanes.length - shown.length} more lanes`] : []),
    ...(provisional && !result
      ? [`${revision ? `↺ REVISED (${revision})` : '≈ PROVISIONAL'}  ${headline(provisional.answer, columns - 30)}`]
      : []),
    ...(result ? [`★ FINAL  ${headline(result.answer, columns - 12)}`] : []),
  ];
};

/** Draws what `picture` makes for the room there is in place, at most every 80 ms; `close` leaves the last one standing. */
export const createScreen = (
  picture: (columns: number, rows: number) => string[],
  target: ScreenTarget,
): { update: () => void; close: () => void } => {
  let drawn = 0;
  let timer: NodeJS.Timeout | null = null;
  const paint = (): void => {
    timer = null;
    const lines = picture(target.columns, target.rows);
    // Without automatic wrap a line that is wider than it looks (CJK, emoji) cannot push the picture down.
    target.write(`${drawn > 0 ? `\x1b[${drawn}A` : ''}\x1b[0J\x1b[?7l${lines.join('\n')}\x1b[?7h\n`);
    drawn = lines.length;
  };
  return {
    update: () => {
      timer ??= setTimeout(paint, paintEveryMs);
    },
    close: () => {
      if (timer) clearTimeout(timer);
      paint();
    },
  };
};
