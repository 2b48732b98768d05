// Plain JavaScript, because in-one-process.js imports it.

/** @type {(() => Promise<void>)[]} */
const ends = []
let waits = false
let ending = Promise.resolve()

/**
 * Calls back when a test file is done and its hooks have run, the last one first. `after` of node:test would call in the order of its calls, and so
 * take a database away from under the pools that the hooks of the file close.
 * @param {() => Promise<void>} end
 */
export function atEndOfFile(end) {
  ends.unshift(end)
  if (!waits) process.once('beforeExit', endFile)
  waits = true
}

/** For a file beside others in a process; without them, the end of the process is that of the file. */
export function endFile() {
  ending = endAll(ending, ends.splice(0))
  return ending
}

/** After those that still run. @param {Promise<void>} before @param {(() => Promise<void>)[]} all */
async function endAll(before, all) {
  await before
  for (const end of all) await end()
}
