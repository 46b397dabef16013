/** Where the workers of this installation take their tasks from. */
export const parleyTaskQueue = 'parley';
