import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenTeamBody } from '../../src/contracts/team.js';
import type { AgentStatus, TeamStatus } from '../../src/contracts/team-status.js';
import { call, until } from '../support/installation.js';
import { calls, says } from '../support/team-bodies.js';

// A team whose agents are in the middle of something when everything is killed.

const id = 'killed-team';
const path = `/v1/teams/${id}`;
/** How long the model speaks that is cut off. */
const speaksMs = 4_000;
const holding = 'echo begun >> runs; touch held; until [ -e go ]; do sleep 0.1; done; echo done >> runs';
const runs = (agentId: string, last: string) =>
  says(agentId, [calls(['run_command', { command: holding }]), last], { tools: ['run_command'] });

const body: OpenTeamBody = {
  id,
  keep_open: true,
  agents: [
    says('ended', ['it has ended']),
    {
      ...says('speaks', [{ partial: 'so far' }, { after_ms: speaksMs, final: 'it was asked once more' }]),
      prompt: undefined,
    },
    says('waits', [calls(['wait_for_agents', { ids: ['paused'] }]), 'it heard of the end']),
    says('asks', [calls(['get_context_info', {}]), 'it was allowed'], {
      approvals: [{ tool: 'get_*', when: 'always' }],
    }),
    runs('paused', 'it goes on where it was'),
    runs('acts', 'it was told that its command was interrupted'),
  ],
};

const agentOf = ({ agents }: TeamStatus, agentId: string): AgentStatus => {
  const agent = agents.find(({ agent_id: each }) => each === agentId);
  if (!agent) throw new Error(`no agent ${agentId}`);
  return agent;
};
const results = ({ agents }: TeamStatus) =>
  Object.fromEntries(agents.map(({ agent_id, state, turns, result }) => [agent_id, [state, turns, result]]));
const act = async (url: string, verb: string): Promise<void> => {
  const { ok, status } = await fetch(`${url}${path}/${verb}`, { method: 'POST' });
  if (!ok) throw new Error(`${verb} was answered ${status}`);
};
const appears = async (file: string): Promise<void> => {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
};

/** The team, by the data folder of its installation. */
export const killedTeam = (folder: string) => {
  const file = (agentId: string, name: string): string => join(folder, 'namespaces', id, agentId, name);
  const said = (agentId: string): string => readFileSync(file(agentId, 'runs'), 'utf8').trim().replaceAll('\n', ' ');
  return {
    /** Until each of its agents is where the kill is to find it, but for the one that speaks. */
    begin: async (url: string): Promise<void> => {
      const { status, text } = await call(url, '/v1/teams', body);
      if (status !== 202) throw new Error(text);
      await Promise.all([appears(file('paused', 'held')), appears(file('acts', 'held'))]);
      await act(url, 'agents/paused/pause');
      writeFileSync(file('paused', 'go'), '');
      await until<TeamStatus>(
        url,
        path,
        (now) =>
          agentOf(now, 'ended').state === 'COMPLETED' && now.asked_call !== null && said('paused') === 'begun done',
      );
    },
    /** Has a model speak, which is cut off. */
    speak: async (url: string): Promise<void> => {
      const { status, text } = await call(url, `${path}/messages`, { content: 'speak', target: 'speaks' });
      if (status !== 200) throw new Error(text);
      await until<TeamStatus>(url, path, (now) => agentOf(now, 'speaks').streaming);
    },
    /** What stands after the restart, and what comes of it when it is resumed. */
    check: async (url: string): Promise<void> => {
      writeFileSync(file('acts', 'go'), '');
      const back = await until<TeamStatus>(
        url,
        path,
        (now) => agentOf(now, 'speaks').state === 'COMPLETED' && agentOf(now, 'acts').state === 'COMPLETED',
      );
      expect(results(back)).toEqual({
        ended: ['COMPLETED', 1, 'it has ended'],
        speaks: ['COMPLETED', 1, 'it was asked once more'],
        waits: ['RUNNING', 1, null],
        asks: ['RUNNING', 1, null],
        paused: ['PAUSED', 1, null],
        acts: ['COMPLETED', 1, 'it was told that its command was interrupted'],
      });
      // What may have happened in part is not done again.
      expect(said('acts')).toBe('begun');
      await act(url, 'agents/paused/resume');
      const { request } = back.feedback.find(({ state }) => state === 'open')!;
      const answer = { request_id: request.request_id, response: 'approve', provided_by: 'anna' };
      expect((await call(url, `${path}/feedback`, answer)).status).toBe(200);
      const done = await until<TeamStatus>(url, path, ({ agents }) =>
        agents.every(({ state }) => state === 'COMPLETED'),
      );
      expect(['waits', 'asks', 'paused'].map((agentId) => agentOf(done, agentId).result)).toEqual([
        'it heard of the end',
        'it was allowed',
        'it goes on where it was',
      ]);
      expect(said('paused')).toBe('begun done');
      await act(url, 'close');
      await until<TeamStatus>(url, path, ({ state }) => state === 'COMPLETED');
      const { text } = await call(url, `${path}/events`);
      const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      const ends = [...text.matchAll(/^data: (\{.*"state":"COMPLETED","turn".*\})$/gm)];
      expect(ends).toHaveLength(6);
    },
  };
};
