import type { SimilarTrace, Tag } from '../../contracts/memory.js';
import type { Plan } from '../../contracts/plan.js';

/** A tag stands for these words; each that occurs halves what is left to certainty. */
const rules: readonly { tag: string; words: readonly string[] }[] = [
  {
    tag: 'api',
    words: ['api', 'apis', 'endpoint', 'endpoints', 'rest', 'graphql', 'openapi', 'http', 'route', 'routes'],
  },
  {
    tag: 'build',
    words: ['build', 'builds', 'compile', 'bundle', 'webpack', 'vite', 'make', 'cmake', 'tsc', 'gradle'],
  },
  {
    tag: 'bugfix',
    words: ['bug', 'bugs', 'fix', 'fixes', 'error', 'errors', 'crash', 'crashes', 'broken', 'regression'],
  },
  { tag: 'configuration', words: ['config', 'configuration', 'setting', 'settings', 'env', 'yaml', 'toml', 'flag'] },
  {
    tag: 'database',
    words: [
      'database',
      'sql',
      'table',
      'tables',
      'index',
      'query',
      'postgres',
      'psql',
      'mysql',
      'sqlite',
      'sqlite3',
      'mongo',
    ],
  },
  {
    tag: 'dependencies',
    words: ['dependency', 'dependencies', 'upgrade', 'package', 'npm', 'pip', 'cargo', 'install'],
  },
  {
    tag: 'deployment',
    words: ['deploy', 'deployment', 'release', 'docker', 'kubernetes', 'kubectl', 'helm', 'terraform'],
  },
  {
    tag: 'documentation',
    words: ['doc', 'docs', 'documentation', 'readme', 'changelog', 'comment', 'comments', 'guide'],
  },
  { tag: 'feature', words: ['add', 'feature', 'implement', 'support', 'introduce', 'new', 'create'] },
  {
    tag: 'files',
    words: ['file', 'files', 'folder', 'folders', 'directory', 'rename', 'move', 'copy', 'delete', 'rm', 'mv'],
  },
  { tag: 'git', words: ['git', 'branch', 'branches', 'commit', 'commits', 'merge', 'rebase', 'revert', 'tag'] },
  { tag: 'migration', words: ['migrate', 'migration', 'migrations', 'schema', 'alter', 'backfill', 'convert', 'port'] },
  {
    tag: 'performance',
    words: ['performance', 'fast', 'faster', 'slow', 'latency', 'optimize', 'cache', 'benchmark', 'speed'],
  },
  { tag: 'refactoring', words: ['refactor', 'refactoring', 'restructure', 'cleanup', 'simplify', 'extract', 'split'] },
  {
    tag: 'security',
    words: [
      'security',
      'vulnerability',
      'cve',
      'auth',
      'authentication',
      'token',
      'password',
      'secret',
      'permission',
      'tls',
    ],
  },
  { tag: 'testing', words: ['test', 'tests', 'testing', 'coverage', 'jest', 'pytest', 'vitest', 'lint', 'assertion'] },
  { tag: 'user interface', words: ['ui', 'page', 'button', 'css', 'html', 'component', 'frontend', 'screen', 'form'] },
];

const maxTags = 8;
/** What a similar trace was tagged with counts for half of what this task itself says. */
const inherited = 0.5;
const least = 0.1;

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().split(/[^a-z0-9]+/));

/**
 * Tags with scores 0–1, the highest first, at most 8 (spec 02 "classify"): from words of the task and of the request's plan,
 * and from similar traces by how similar they are. Asks no role.
 */
export const classify = (task: string, plan: Plan, similar: readonly SimilarTrace[]): Tag[] => {
  const words = wordsOf(
    [task, ...plan.tasks.flatMap(({ argv }) => argv.slice(0, 20).map((word) => word.slice(0, 500)))].join(' '),
  );
  const scores = new Map<string, number>();
  const raise = (tag: string, score: number): void => {
    scores.set(tag, Math.max(scores.get(tag) ?? 0, score));
  };
  for (const { tag, words: known } of rules) {
    const hits = known.filter((word) => words.has(word)).length;
    if (hits > 0) raise(tag, 1 - 0.5 ** hits);
  }
  for (const { similarity, tags } of similar) {
    for (const { tag, score } of tags) raise(tag, inherited * Math.max(0, similarity ?? 0) * score);
  }
  return [...scores]
    .map(([tag, score]) => ({ tag, score: Math.round(score * 1000) / 1000 }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || (a.tag < b.tag ? -1 : 1))
    .slice(0, maxTags);
};
