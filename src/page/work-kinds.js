import * as coordinators from './coordinator-model.js';
import { CoordinatorBody, CoordinatorView, titleOf as coordinatorTitle } from './coordinator-view.js';
import * as debates from './debate-model.js';
import { DebateBody, DebateView } from './debate-view.js';
import * as fanOuts from './fan-out-model.js';
import { FanOutBody, FanOutView, titleOf } from './fan-out-view.js';
import * as refinements from './refinement-model.js';
import { RefinementBody, RefinementView } from './refinement-view.js';
import * as runs from './run-model.js';
import { RunBody, RunView, titleOf as runTitle } from './run-view.js';
import * as sessions from './session-model.js';
import { SessionBody, SessionView } from './session-view.js';
import * as teams from './team-model.js';
import { TeamBody, TeamView, titleOf as teamTitle } from './team-view.js';

/**
 * The kinds of work that have views here, by collection: `View` is the live page, `Body` what it shows of a model, `textOf` what
 * the work is about, `asked` the field of the request that says so, where a fork may put it in other words, and `acts` what can
 * be done from a checkpoint, where that is not everything.
 */
export const workKinds = new Map([
  [
    sessions.collection,
    { model: sessions, View: SessionView, Body: SessionBody, textOf: ({ prompt }) => prompt, asked: 'prompt' },
  ],
  [
    debates.collection,
    { model: debates, View: DebateView, Body: DebateBody, textOf: ({ task }) => task, asked: 'task' },
  ],
  [fanOuts.collection, { model: fanOuts, View: FanOutView, Body: FanOutBody, textOf: titleOf, asked: null }],
  [
    refinements.collection,
    { model: refinements, View: RefinementView, Body: RefinementBody, textOf: ({ task }) => task, asked: 'task' },
  ],
  [teams.collection, { model: teams, View: TeamView, Body: TeamBody, textOf: teamTitle, asked: null }],
  [runs.collection, { model: runs, View: RunView, Body: RunBody, textOf: runTitle, asked: null }],
  [
    coordinators.collection,
    {
      model: coordinators,
      View: CoordinatorView,
      Body: CoordinatorBody,
      textOf: coordinatorTitle,
      asked: null,
      acts: ['Compare'],
    },
  ],
]);
