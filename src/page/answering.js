// Answering what people are asked, by keyboard or mouse: one way for the inbox and for the work that asks.
import { useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { post, savedKey } from './api.js';
import { savedName, saveName } from './approver.js';
import { answerOf, choiceFor, keyOf, needsWords, titleOf } from './inbox-model.js';
import { headline, words as plainWords } from './model.js';

const noAnswer = { key: null, choice: null, words: '', limits: {}, busy: false, error: null };

/** Sends one answer. @returns what was refused, as a problem, or null where it counted */
const give = async (item, answer, name) => {
  const query = savedKey() === null ? `?${new URLSearchParams({ provided_by: name.trim() })}` : '';
  const { applied, errors } = await post(`/v1/inbox/answers${query}`, [answerOf(item, answer)]);
  return { receipt: applied[0] ?? null, refused: errors[0] ?? null };
};

const receiptWords = (item, { response, outcome, approvals, needed }) =>
  `${headline(titleOf(item), 60)}: ${item.request.type === 'input' ? headline(response, 60) : plainWords(response)}${outcome === 'pending' ? `, ${approvals} of ${needed} approvals` : ''}`;

/** What the keys do, wherever the focus is; a text that is being written keeps its letters. */
export const useKeys = (act) => {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const isWriting = event.target.closest('input, textarea, select') !== null;
      const isPressing = event.target.closest('button, a, summary') !== null && ['Enter', ' '].includes(event.key);
      if (isPressing) return;
      if (latest.current(event.key, { isWriting, event })) event.preventDefault();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
};

/**
 * The answer to `item`, from the choice to what came of it.
 * @param item the inbox item that is looked at, or null; an answer is meant for it, never for what comes after it
 * @param home a reference to where the focus goes when nothing is written
 * @param say is told what came of an answer: a text, and whether it is bad
 * @param leave is given the key of an item that asks this person nothing any more
 */
export const useAnswering = ({ item, home, say, leave }) => {
  const [given, setGiven] = useState(noAnswer);
  const [name, setName] = useState(savedName());
  const [words, nameInput] = [useRef(null), useRef(null)];
  const hasKey = savedKey() !== null;
  const key = item && keyOf(item);
  const answer = given.key === key ? given : noAnswer;
  const setAnswer = (change) => setGiven((before) => ({ ...(before.key === key ? before : noAnswer), ...change, key }));
  const done = async () => {
    await leave(key);
    setGiven((before) => (before.key === key ? noAnswer : before));
    home.current?.focus();
  };

  const choose = (choice) => {
    setAnswer({ choice, error: null });
    say('');
    if (needsWords(item, choice)) words.current.focus();
    else home.current?.focus();
  };
  const send = async () => {
    if (!item || answer.busy) return;
    if (answer.choice === null && item.request.type !== 'input') {
      say('Choose an answer first.');
      return;
    }
    if (!hasKey && !nameInput.current.reportValidity()) return;
    if (!words.current.reportValidity()) return;
    if (!hasKey) saveName(name);
    setAnswer({ busy: true, error: null });
    try {
      const { receipt, refused } = await give(item, answer, name);
      if (receipt) {
        say(receiptWords(item, receipt));
        await done();
        return;
      }
      // What asks nothing any more leaves by itself, and takes its form along.
      if (!refused.open) {
        say(`${headline(titleOf(item), 60)}: ${refused.message}`, true);
        await done();
        return;
      }
      setAnswer({ busy: false, error: { message: refused.message } });
    } catch (error) {
      setAnswer({ busy: false, error });
    }
  };

  /** Takes a key that answers; false: it means nothing here. */
  const takeKey = (pressed, { isWriting, event }) => {
    if (pressed === 'Escape') {
      setGiven(noAnswer);
      home.current?.focus();
      return true;
    }
    if (isWriting) {
      // Enter sends from the comment too; with Shift it begins a line.
      if (pressed !== 'Enter' || event.shiftKey || event.target !== words.current) return false;
      void send();
      return true;
    }
    if (pressed === 'Enter') {
      void send();
      return true;
    }
    const choice = item && choiceFor(item, pressed);
    if (!choice) return false;
    choose(choice.value);
    return true;
  };

  return {
    answer,
    choose,
    setWords: (text) => setAnswer({ words: text }),
    setLimits: (limits) => setAnswer({ limits }),
    send: () => void send(),
    words,
    takeKey,
    /** What the field for the name of who answers needs; null: the key says it. */
    naming: hasKey ? null : { name, setName, field: nameInput },
  };
};
