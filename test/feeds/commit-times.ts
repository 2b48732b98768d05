/** Settings of a PostgreSQL server that knows when each transaction was committed: an order that does not depend on what the package writes. */
export const COMMIT_TIMES = { track_commit_timestamp: 'on' }
