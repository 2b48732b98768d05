// Preloaded into a program: a debugger in a second thread, as an editor is one in a second process. It pauses once at a line of a TypeScript file, which
// it finds by the source map, and prints the values of local variables there: BREAKPOINT is `{ "file": "tasks.ts", "line": 16, "variables": ["task_id"] }`.
import { writeSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { SourceMap } from 'node:module'
import { isMainThread, Worker } from 'node:worker_threads'

if (isMainThread) {
  new Worker(new URL(import.meta.url), { execArgv: [], env: process.env }).unref()
} else {
  await debug(JSON.parse(process.env['BREAKPOINT'] ?? ''))
}

async function debug(/** @type {{ file: string, line: number, variables: string[] }} */ { file, line, variables }) {
  setInterval(() => {}, 60_000) // a session alone does not keep its thread running
  const session = new Session()
  session.connectToMainThread()
  session.on('Debugger.scriptParsed', async ({ params: { scriptId, url, sourceMapURL = '' } }) => {
    if (!url.endsWith(file) || !sourceMapURL.startsWith('data:')) return
    const payload = JSON.parse(await (await fetch(sourceMapURL)).text())
    const lineNumber = compiledLine(new SourceMap(payload), line)
    await session.post('Debugger.setBreakpoint', { location: { scriptId, lineNumber } })
  })
  session.on('Debugger.paused', async ({ params: { callFrames } }) => {
    const [frame] = callFrames
    if (!frame) return
    const values = variables.map(async (expression) => {
      const { result } = await session.post('Debugger.evaluateOnCallFrame', {
        callFrameId: frame.callFrameId,
        expression,
      })
      return result.value
    })
    // console.log() of this thread is written by the other one, which has paused.
    writeSync(1, `Paused in ${frame.functionName} with ${JSON.stringify(await Promise.all(values))}\n`)
    await session.post('Debugger.resume')
  })
  await session.post('Debugger.enable')
}

/** The first line of the compiled text that has something of a line of the source. Lines of the map count from 0. */
function compiledLine(/** @type {SourceMap} */ map, /** @type {number} */ line) {
  for (let compiled = 0; compiled < 10_000; compiled++)
    for (let column = 0; column < 200; column++) {
      const entry = map.findEntry(compiled, column)
      if ('originalLine' in entry && entry.generatedLine === compiled && entry.originalLine === line - 1)
        return compiled
    }
  throw new Error(`No compiled line has line ${line}.`)
}
