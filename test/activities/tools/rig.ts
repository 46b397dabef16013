import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolCall } from '../../../activities/tools/port.js';

/** Folders that go with the test file. */
export const rooms = () => {
  const made: string[] = [];
  return {
    folder: (): string => {
      const path = realpathSync(mkdtempSync(join(tmpdir(), 'parley-tools-')));
      made.push(path);
      return path;
    },
    remove: (): void => {
      for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
    },
  };
};

let calls = 0;

export const toolCall = (
  name: string,
  given: Record<string, unknown> = {},
  over: Partial<ToolCall> = {},
): ToolCall => ({
  workId: 'team-1',
  agentId: 'a',
  callId: `a-1-${(calls += 1)}`,
  name,
  given,
  folderOf: 'a',
  workspace: null,
  ...over,
});

export const never = new AbortController().signal;
