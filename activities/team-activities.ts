/** The workflows of a team's turns, from outside; `temporal/team-turns.ts` is the one on Temporal. Each call may be made again. */
export interface TeamTurnsPort {
  /** Those that are closed, or were never there, in the order asked. @throws ParleyError unavailable */
  lost(workflowIds: readonly string[]): Promise<string[]>;
  /** Ends those that a team has started before it went back to an earlier point for the `epoch`th time. @throws ParleyError unavailable */
  stop(team: { teamId: string; epoch: number }): Promise<void>;
}

export interface TeamPorts {
  teamTurns: TeamTurnsPort;
}

export const createTeamActivities = ({ teamTurns }: TeamPorts) => ({
  lostTurns: ({ workflowIds }: { workflowIds: string[] }): Promise<string[]> => teamTurns.lost(workflowIds),
  stopTurns: (team: { teamId: string; epoch: number }): Promise<void> => teamTurns.stop(team),
});
