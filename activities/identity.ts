/** What a workspace says it belongs to; a lock left out is not checked. */
export interface WorkspaceLocks {
  /** One cloud project, or those that are allowed. */
  project?: string | readonly string[] | undefined;
  database?: string | undefined;
  tenant?: string | undefined;
}

export interface IdentityFault {
  lock: 'project' | 'database' | 'tenant';
  /** The worker's variable for it. */
  variable: string;
  /** For people; never the value of either side. */
  message: string;
}

const variables = [
  ['project', 'PARLEY_LOCK_PROJECT'],
  ['database', 'PARLEY_LOCK_DATABASE'],
  ['tenant', 'PARLEY_LOCK_TENANT'],
] as const;

/**
 * The identity guard of debates (spec 02, details 2.4): each declared lock has to equal what the worker's environment says,
 * and a variable that is not set differs from every lock. `PARLEY_SKIP_IDENTITY`, exactly `true`, skips it.
 * @returns the locks that differ, the project's first; none: the work may go on
 */
export const identityFaults = (
  locks: WorkspaceLocks,
  environment: Readonly<Record<string, string | undefined>>,
): IdentityFault[] => {
  const skip = environment['PARLEY_SKIP_IDENTITY'];
  if (skip === 'true') return [];
  const hint = skip ? ' PARLEY_SKIP_IDENTITY skips the guard only when it is exactly "true".' : '';
  return variables.flatMap(([lock, variable]) => {
    const declared = locks[lock];
    if (declared === undefined) return [];
    const allowed = typeof declared === 'string' ? [declared] : declared;
    const actual = environment[variable];
    if (actual && allowed.includes(actual)) return [];
    const found = actual ? `this worker's ${variable} says another one` : `${variable} is not set for this worker`;
    const wanted = `Send the work to a worker of that ${lock}, or set ${variable} to what the workspace declares.`;
    return [{ lock, variable, message: `The workspace is locked to a ${lock}, and ${found}. ${wanted}${hint}` }];
  });
};
