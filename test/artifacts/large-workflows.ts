import { defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';

interface Activities {
  lengthOf(text: string): Promise<number>;
  textOf(length: number): Promise<string>;
}
const { lengthOf, textOf } = proxyActivities<Activities>({ startToCloseTimeout: '1 minute' });

/** What a workflow hands to an activity. */
export const handsOver = async (length: number): Promise<number> => await lengthOf('x'.repeat(length));

/** What an activity hands back. */
export const getsBack = async (length: number): Promise<number> => (await textOf(length)).length;

/** What a workflow ends with. */
export const endsWith = async (length: number): Promise<string> => 'y'.repeat(length);

export const answerQuery = defineQuery<string, [number]>('answer');
/** What a workflow answers. */
export const answers = async (): Promise<void> => {
  setHandler(answerQuery, (length) => 'z'.repeat(length));
};
