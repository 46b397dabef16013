import { DebatePlay, plan } from '../../support/debate-play.js';

const against = { stance: 'against' as const, confidence: 0.5 };

describe('what a role is told', () => {
  test('holds the task, the workspace, the plan, and how to answer', () => {
    const { prompt, instructions } = new DebatePlay({ plan: plan('a') }).open().ask;
    for (const words of [
      '# Task\nAdd an index to orders',
      '# Workspace\n/srv/project',
      '["do","a"]',
      '"stance":"for or against"',
    ]) {
      expect(prompt).toContain(words);
    }
    expect(instructions).toMatch(/^You are the analyst/);
  });

  test('holds everything of the plan that differs from what a task takes by itself', () => {
    const task = {
      task_id: 't1',
      argv: ['sh'],
      stdin: 'make',
      limits: { timeout_ms: 900_000 },
      undo: { argv: ['sh'], cwd: 'lib', env: { MODE: 'undo' }, stdin: 'make clean' },
    };
    expect(new DebatePlay({ plan: { tasks: [task] } }).open().ask.prompt).toContain(
      '{"task_id":"t1","argv":["sh"],"stdin":"make","expect":{"exit_code":0,"files":[]},' +
        '"undo":{"argv":["sh"],"cwd":"lib","env":{"MODE":"undo"},"stdin":"make clean"},"depends_on":[],"limits":{"timeout_ms":900000}}',
    );
  });

  test('holds all that was said before it, in order', () => {
    const play = new DebatePlay().open();
    play.pass({
      analyst: { position: 'the table is large' },
      solution: { position: 'one command', plan: plan('t1') },
      critic: { ...against, position: 'no test', issues: [{ severity: 'high', where: 't1', why: 'it locks' }] },
      security: { position: 'harmless' },
      optimizer: { ...against, position: 'drop t2', changes: ['one task less'] },
    });
    expect(play.ask).toMatchObject({ role: 'solution', pass: 2 });
    const { prompt } = play.ask;
    const places = ['the table is large', 'one command', 'no test', 'harmless', 'drop t2'].map((words) =>
      prompt.indexOf(words),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(prompt).toContain('## critic, pass 1: against the plan, confidence 0.5');
    expect(prompt).toContain('- issue (high) at t1: it locks');
    expect(prompt).toContain('- would change: one task less');
    expect(prompt).toContain('Answer the reviews of the last one');
  });

  test('says nothing of those who speak after it', () => {
    const play = new DebatePlay().open();
    expect(play.ask.prompt).not.toContain('What was said so far');
    play.reply();
    expect(play.ask.prompt).toContain('## analyst, pass 1');
    expect(play.ask.prompt).not.toContain('## critic');
  });

  test('asks the solution alone for a plan', () => {
    const play = new DebatePlay().open();
    expect(play.ask.prompt).not.toContain('"depends_on"');
    expect(play.reply().ask.prompt).toContain('{"task_id":"t1","argv":["npm","test"]');
    expect(play.reply().ask.prompt).not.toContain('"task_id":"t1"');
  });

  test('holds what similar work came to, and who argues', () => {
    const similar = {
      trace_id: '1'.repeat(32),
      work_id: 'debate-0',
      kind: 'debate' as const,
      task: 'Add an index to customers',
      outcome: 'rolled_back' as const,
      decision: 'PROCEED' as const,
      consensus: 0.7,
      verified: false,
      summary: 'the table was locked',
      tags: [],
      created_at: '2026-11-20T00:00:00.000Z',
      similarity: 0.876,
    };
    const ratings = { critic: { elo: 1310, matches: 4, successes: 3 } };
    const { prompt } = new DebatePlay().open({ similar: [similar], ratings }).ask;
    expect(prompt).toContain(
      '"Add an index to customers" was PROCEED, rolled_back, similarity 0.88: the table was locked',
    );
    expect(prompt).toContain('- critic (critic): rating 1310, 3 successes in 4 debates');
    expect(prompt).toContain('Tags: database 0.5, feature 0.5');
  });

  test('is the request’s own instructions where it has some', () => {
    const persona = { instructions: 'Be brief.' };
    expect(new DebatePlay({ roles: { analyst: { persona } } }).open().ask.instructions).toBe('Be brief.');
  });

  test('stays bounded however long the others speak', () => {
    const long = 'x'.repeat(20_000);
    const play = new DebatePlay({ budget: { max_tokens: 100_000_000 } }).open();
    for (let pass = 0; pass < 4; pass += 1) {
      play.pass({
        critic: { ...against, position: long },
        optimizer: { ...against, position: long },
        solution: { position: long, confidence: 0.9 },
      });
    }
    const prompts = play.effects.flatMap((effect) => (effect.type === 'ask' ? [effect.prompt.length] : []));
    expect(prompts).toHaveLength(17);
    expect(Math.max(...prompts)).toBeLessThan(100_000);
  });
});
