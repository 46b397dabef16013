// What changed from one document to the next.

/** What things in lists are called by, whatever their place. */
const names = ['lane_id', 'task_id', 'agent_id', 'role', 'version', 'request_id', 'pointer', 'name'];

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** The field that tells the things of both lists apart; undefined: none does. */
const nameOf = (...lists) =>
  names.find((name) =>
    lists.every(
      (list) =>
        list.every((each) => isObject(each) && ['string', 'number'].includes(typeof each[name])) &&
        new Set(list.map((each) => each[name])).size === list.length,
    ),
  );

const parts = (value, name) => {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  return new Map(value.map((each, index) => [name === undefined ? index : each[name], each]));
};

/**
 * Places at which `after` differs from `before`, in the order of `before`: {path, before, after}, where undefined is nothing at
 * all. What is new or gone as a whole is one difference.
 */
export const differences = (before, after, path = '') => {
  const areLists = Array.isArray(before) && Array.isArray(after);
  if (!areLists && !(isObject(before) && isObject(after)))
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
  const name = areLists ? nameOf(before, after) : undefined;
  const [old, young] = [parts(before, name), parts(after, name)];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((key) => {
    const step = areLists ? `[${key}]` : path === '' ? key : `.${key}`;
    return differences(old.get(key), young.get(key), path + step);
  });
};
