// Runs pieces of work one after the other, in the order of asking. Knows nothing of what they do.

export interface OneAtATime {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createOneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      const result = last.then(work);
      last = result.catch(() => undefined);
      return result;
    },
  };
}
