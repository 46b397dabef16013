// Agents as a tree, and what a person has chosen to see of it.

/**
 * Agents each behind its parent, else in their order: {agent, depth}. One whose parent is not there stands by itself.
 * @param agents each {agentId, parent}
 */
export const treeOf = (agents) => {
  const ids = new Set(agents.map(({ agentId }) => agentId));
  const children = new Map();
  for (const agent of agents) {
    const parent = ids.has(agent.parent) ? agent.parent : null;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(agent);
  }
  const placed = [];
  // A list in place of recursion: agents may spawn agents a thousand deep.
  const open = (children.get(null) ?? []).map((agent) => ({ agent, depth: 0 })).reverse();
  while (open.length > 0) {
    const next = open.pop();
    placed.push(next);
    const below = children.get(next.agent.agentId) ?? [];
    for (const agent of below.toReversed()) open.push({ agent, depth: next.depth + 1 });
  }
  return placed;
};

/** How a person counts agents; one that nobody has asked yet has ended nothing and waits for nothing. */
const groups = [
  ['running', ({ state }) => state === 'RUNNING'],
  ['paused', ({ state }) => state === 'PAUSED', 'asking'],
  ['waiting', ({ state, queued, turns }) => state === 'PENDING' && (queued > 0 || turns > 0)],
  ['not asked', ({ state, queued, turns }) => state === 'PENDING' && queued === 0 && turns === 0, 'waiting'],
  ['completed', ({ state }) => state === 'COMPLETED'],
  ['failed', ({ state }) => state === 'FAILED'],
  ['cancelled', ({ state }) => state === 'CANCELLED'],
].map(([name, holds, tone = name]) => ({ name, tone, holds }));

/** How many agents stand where, without those groups that have none; they add up to all agents. */
export const countsOf = ({ agents }) => {
  const all = [...agents.values()];
  return groups
    .map(({ name, tone, holds }) => ({ name, tone, count: all.filter(holds).length }))
    .filter(({ count }) => count > 0);
};

/** Rows of the tree, as treeOf has them; of one group, or whose id or role has the words, they stand side by side. */
export const rowsOf = ({ agents }, { group = '', words = '' } = {}) => {
  const holds = groups.find(({ name }) => name === group)?.holds;
  const sought = words.trim().toLowerCase();
  if (!holds && sought === '') return treeOf([...agents.values()]);
  return [...agents.values()]
    .filter((agent) => !holds || holds(agent))
    .filter(({ agentId, role }) => `${agentId}\n${role}`.toLowerCase().includes(sought))
    .map((agent) => ({ agent, depth: 0 }));
};
