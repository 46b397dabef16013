// What a person has seen of work whose status says everything, as plain data: its events tell when to look, and its story.

export const lookEveryMs = 3_000;

export const createModel = () => ({
  status: null,
  /** Durable events in order. */
  events: [],
});

export const takeStatus = (model, status) => {
  model.status = status;
};

/** What a status alone tells: how it was at a checkpoint. */
export const modelAt = (status) => ({ ...createModel(), status });

/** It says nothing itself: its work does. */
export const takePartial = () => true;

export const takeEvent = (model, event) => {
  model.events.push(event);
};
