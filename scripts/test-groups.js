// Which test files share a process. To start one and to import src takes three seconds of CPU time, most files take less than that.
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** More files in a process save little, and more of them are lost with a process that dies. */
const MOST_FILES = 20

/** What a file says at its top that leaves something behind in its process, or that needs one in which nothing has happened yet. */
const ALONE = /^\/\/ Needs a process of its own\b/m

/** @typedef {{ readonly files: readonly string[], readonly half: 0 | 1 | undefined }} Group */

/**
 * Groups of files of one folder, which use the same modules; the largest groups first, so that none is left at the end alone.
 * @param {readonly string[]} files
 * @param {number} concurrency
 * @param {ReadonlyMap<string, 0 | 1>} halves
 * @returns {Group[]}
 */
export function groupsOf(files, concurrency, halves) {
  const alone = files.filter((file) => ALONE.test(readFileSync(file, 'utf8')))
  const others = files.filter((file) => !alone.includes(file))
  const most = Math.min(MOST_FILES, Math.ceil(others.length / concurrency))
  const kindOf = (/** @type {string} */ file) => `${dirname(file)} ${halves.get(file)}`
  const groups = [...new Set(others.map(kindOf))].flatMap((kind) =>
    spread(
      others.filter((file) => kindOf(file) === kind),
      most,
    ),
  )
  return [...alone.map((file) => [file]), ...groups]
    .sort((a, b) => sizeOf(b) - sizeOf(a))
    .map((some) => ({ files: some, half: halves.get(some[0] ?? '') }))
}

/**
 * In as many groups as there must be, of about as many files each.
 * @param {readonly string[]} files
 * @param {number} most
 */
function spread(files, most) {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, group) => files.filter((_file, index) => index % count === group))
}

/** In bytes, which is what is known of how long they take. */
function sizeOf(/** @type {readonly string[]} */ files) {
  return files.reduce((sum, file) => sum + statSync(file).size, 0)
}

/**
 * Writes a file for each group, named after its place, as the test runner sorts them.
 * @param {readonly Group[]} groups
 */
export function writeGroups(groups) {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-tests-'))
  const runner = new URL('../test/support/in-one-process.js', import.meta.url).href
  const entries = groups.map(({ files, half }, index) => {
    const entry = join(folder, `group-${String(index).padStart(3, '0')}.mjs`)
    writeFileSync(
      entry,
      `import { runInOneProcess } from ${JSON.stringify(runner)}\n${half === undefined ? '' : `process.env.TEST_HALF = '${half}'\n`}await runInOneProcess(${JSON.stringify(files)})\n`,
    )
    return entry
  })
  return { folder, entries }
}
