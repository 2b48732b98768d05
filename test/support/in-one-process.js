// Plain JavaScript, like postgres-server.js: the files that scripts/test-groups.js writes import it in a bare node.
import { describe, test } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const FIVE_MINUTES = 300_000

/**
 * Runs test files one after the other in this process. Each is a suite, so that the hooks at its top are its own, and it has failed after
 * five minutes.
 * @param {readonly string[]} files
 */
export async function runInOneProcess(files) {
  const left = new Set(files)
  // A test that waits for what can no longer happen ends the process, and the files after it would not be missed.
  process.once('exit', () => {
    if (left.size === 0) return
    console.error(`Not run to the end: ${[...left].join(', ')}`)
    process.exitCode = 1
  })
  for (const file of files) {
    await describe(file, { timeout: FIVE_MINUTES }, () => importAsProgram(file))
    left.delete(file)
  }
  endIfLeftOpen(files)
}

/** @param {string} file */
async function importAsProgram(file) {
  process.argv[1] = resolve(file)
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    test(`${file} is imported`, () => {
      throw error
    })
  }
}

/** What a file has forgotten to close would keep this process alive for ever. @param {readonly string[]} files */
function endIfLeftOpen(files) {
  const timer = setTimeout(() => {
    console.error(`Left open by ${files.join(', ')}: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, FIVE_MINUTES).unref()
  process.once('beforeExit', () => clearTimeout(timer))
}
