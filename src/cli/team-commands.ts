import type { Command } from 'commander';
import {
  cleanUpAgent,
  closeTeam,
  controlTeam,
  delegateWork,
  type DelegateOptions,
  runPattern,
  sendMessage,
  showAgents,
  showContext,
  showStats,
  spawnAgents,
  type SpawnOptions,
  syncContext,
  type SyncOptions,
  waitForAgents,
} from './commands/team.js';
import type { CommandContext } from './context.js';

type MakeCommand = (parent: Command, usage: string, description: string) => Command;
type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;

const controls = {
  pause: 'pause a team, or one of its agents, before the next call of a model or a tool',
  resume: 'let a team, or one of its agents, go on where it was',
  cancel: 'cancel a team, or one of its agents with those that it has spawned',
} as const;

/** What teams have beside what every kind of work has: the calls of their executor (spec 05). */
export const teamCommands = (
  team: Command,
  command: MakeCommand,
  run: Run,
  duration: (text: string) => number,
): void => {
  command(team, 'agents <id> [agent]', 'show the tree of agents, or one of them with its whole answer').action(
    (id: string, agent: string | undefined, _: object, self: Command) => run(self, (cli) => showAgents(id, agent, cli)),
  );
  command(
    team,
    'spawn <id> [file]',
    'add agents from a JSON or YAML file, one or a list; - for JSON from standard input',
  )
    .option('--agent <id>', 'add this one, instead of a file')
    .option('--prompt <text>', 'what it is asked first')
    .option('--role <role>', 'by which who asks a role finds it')
    .option('--parent <agent>', 'whose child it is')
    .option('--instructions <text>', 'what it is told before anything is asked')
    .option('--adapter <kind[:model]>', 'who answers for it (default: who answers for its parent)')
    .action((id: string, file: string | undefined, options: SpawnOptions, self: Command) =>
      run(self, (cli) => spawnAgents(id, file, options, cli)),
    );
  for (const verb of ['pause', 'resume', 'cancel'] as const)
    command(team, `${verb} <id> [agent]`, controls[verb]).action(
      (id: string, agent: string | undefined, _: object, self: Command) =>
        run(self, (cli) => controlTeam(verb, id, agent, cli)),
    );
  command(team, 'send <id> <agents> <text>', 'send a message to an agent, or several with commas; - for standard input')
    .option('--channel <name>', 'what it is about')
    .option('--context', 'give it them to know; nobody is asked')
    .action(
      (id: string, agents: string, text: string, options: { channel?: string; context?: boolean }, self: Command) =>
        run(self, (cli) => sendMessage(id, agents, text, options, cli)),
    );
  command(team, 'wait <id> [agents...]', 'wait until agents, or all, have nothing to do; stops none of them')
    .option('--timeout <duration>', 'give up after this, such as 30s', duration)
    .action((id: string, agents: string[], options: { timeout?: number }, self: Command) =>
      run(self, (cli) => waitForAgents(id, agents, options, cli)),
    );
  command(team, 'delegate <id> <parent> <child> <text>', 'give work from one agent to another; - for standard input')
    .option('--background', 'do not wait for it')
    .option('--wait', 'wait for what runs in the background')
    .option('--timeout <duration>', 'wait so long at most; it goes on', duration)
    .action((id: string, parent: string, child: string, text: string, options: DelegateOptions, self: Command) =>
      run(self, (cli) => delegateWork(id, [parent, child, text], options, cli)),
    );
  command(team, 'round-robin <id> <role> <prompts...>', 'ask the agents of a role in turn, prompt by prompt')
    .option('--detach', 'print the id of it and leave it running')
    .action((id: string, role: string, prompts: string[], options: { detach?: boolean }, self: Command) =>
      run(self, (cli) => runPattern(id, { kind: 'round-robin', role, prompts }, options, cli)),
    );
  command(team, 'role-chain <id> <text> <roles...>', 'ask role after role, each with what the one before has answered')
    .option('--detach', 'print the id of it and leave it running')
    .action((id: string, content: string, roles: string[], options: { detach?: boolean }, self: Command) =>
      run(self, (cli) => runPattern(id, { kind: 'role-chain', roles, content }, options, cli)),
    );
  command(
    team,
    'send-to-role <id> <role> <text>',
    'ask one agent of a role, or all lite agents of it where it has no other',
  )
    .option('--detach', 'print the id of it and leave it running')
    .action((id: string, role: string, content: string, options: { detach?: boolean }, self: Command) =>
      run(self, (cli) => runPattern(id, { kind: 'send-to-role', role, content }, options, cli)),
    );
  command(
    team,
    'broadcast <id> <text> <roles...>',
    'ask every agent of each role, and lite agents of a role that no other has',
  )
    .option('--detach', 'print the id of it and leave it running')
    .action((id: string, content: string, roles: string[], options: { detach?: boolean }, self: Command) =>
      run(self, (cli) => runPattern(id, { kind: 'broadcast', roles, content }, options, cli)),
    );
  command(team, 'sync-context <id> <parent> <child>', 'copy messages of one agent to another')
    .option('--categories <names>', 'system, context, dialog, tool, with commas (default: system,context)')
    .option('--replace', 'in place of what the child has of these')
    .action((id: string, parent: string, child: string, options: SyncOptions, self: Command) =>
      run(self, (cli) => syncContext(id, parent, child, options, cli)),
    );
  command(team, 'context <id> <agent>', 'show what the window of an agent holds, and who shares it').action(
    (id: string, agent: string, _: object, self: Command) => run(self, (cli) => showContext(id, agent, cli)),
  );
  command(team, 'stats <id>', 'show counts by state, slots, queue and latencies').action(
    (id: string, _: object, self: Command) => run(self, (cli) => showStats(id, cli)),
  );
  command(team, 'clean-up <id> <agent>', 'forget an agent that has ended; its id is free again').action(
    (id: string, agent: string, _: object, self: Command) => run(self, (cli) => cleanUpAgent(id, agent, cli)),
  );
  command(team, 'close <id>', 'let a team that is kept open end with its last agent').action(
    (id: string, _: object, self: Command) => run(self, (cli) => closeTeam(id, cli)),
  );
};
