/** An agent with how far below the first of its line it stands. */
export interface Placed<A> {
  agent: A;
  depth: number;
}

/** Agents as a tree, each behind its parent, else in their order; one whose parent is not there stands by itself. */
export const treeOf = <A extends { agent_id: string; parent: string | null }>(agents: readonly A[]): Placed<A>[] => {
  const ids = new Set(agents.map(({ agent_id: id }) => id));
  const children = new Map<string | null, A[]>();
  for (const agent of agents) {
    const parent = agent.parent !== null && ids.has(agent.parent) ? agent.parent : null;
    children.set(parent, [...(children.get(parent) ?? []), agent]);
  }
  const placed: Placed<A>[] = [];
  // A list in place of recursion: agents may spawn agents a thousand deep.
  const open: Placed<A>[] = (children.get(null) ?? []).map((agent) => ({ agent, depth: 0 })).toReversed();
  for (let next = open.pop(); next; next = open.pop()) {
    placed.push(next);
    const { agent, depth } = next;
    const below = children.get(agent.agent_id) ?? [];
    open.push(...below.toReversed().map((child) => ({ agent: child, depth: depth + 1 })));
  }
  return placed;
};

/** The name of an agent, moved in below its parent's. */
export const treeName = ({ agent, depth }: Placed<{ agent_id: string }>): string =>
  `${'  '.repeat(Math.min(depth, 12))}${agent.agent_id}`;
