import { join } from 'node:path';
import type { ReadAnswer, ReadWord } from '../src/domain/team/effects.js';
import { beating } from './asking.js';
import { copied, exists } from './run-folder.js';

/** A turn's way to its team, for whoever asks its model; `temporal/team-reads.ts` is the one on Temporal. */
export interface TeamReadsPort {
  /**
   * Tells the team what a turn brings, and answers with what it is asked with. The same may be told again. A team that is gone has
   * its turns stop. @throws what Temporal throws, or the reason of an abort
   */
  read(teamId: string, word: ReadWord, signal: AbortSignal): Promise<ReadAnswer>;
}

/** The workflows of a team's turns, from outside; `temporal/team-turns.ts` is the one on Temporal. Each call may be made again. */
export interface TeamTurnsPort {
  /** Those that are closed, or were never there, in the order asked. @throws ParleyError unavailable */
  lost(workflowIds: readonly string[]): Promise<string[]>;
  /**
   * Ends those that a team has started before it went back to an earlier point for the `epoch`th time.
   * @throws ParleyError unavailable
   */
  stop(team: LeftTurns): Promise<void>;
}

export interface LeftTurns {
  teamId: string;
  epoch: number;
  /** The run of the team that was there until then: its history names turns that are in no list yet. null: none was. */
  previousRunId: string | null;
}

export interface TeamPorts {
  teamTurns: TeamTurnsPort;
  /** Where the folders of agents are. */
  namespaces: string;
}

/** Ids of teams. */
export interface CopiedFiles {
  from: string;
  to: string;
}

export const createTeamActivities = ({ teamTurns, namespaces }: TeamPorts) => ({
  /** Gives the agents of a team the files of another's as they are now, once; where there are none, it has none. */
  copyFiles: ({ from, to }: CopiedFiles): Promise<void> =>
    beating(async () => {
      const folder = join(namespaces, from);
      if (await exists(folder)) await copied(folder, join(namespaces, to));
    }),
  lostTurns: ({ workflowIds }: { workflowIds: string[] }): Promise<string[]> => teamTurns.lost(workflowIds),
  stopTurns: (team: LeftTurns): Promise<void> => teamTurns.stop(team),
});
