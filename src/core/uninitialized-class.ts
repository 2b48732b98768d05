import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The message for a class that is used, in the output of tsc, before its definition: as the type of a decorated member or parameter, which is
 * evaluated with the decorators. Undefined for any other error. Under `sequitur/register`, the hook throws an error with this message.
 */
export function uninitializedClass(error: unknown): string | undefined {
  if (!(error instanceof ReferenceError)) return undefined
  if (error.message.includes('is not initialized yet when the decorators of')) return error.message
  const type = /^Cannot access '(.+)' before initialization$/.exec(error.message)?.[1]
  const source = type === undefined ? undefined : sourceAt(error.stack ?? '')
  if (type === undefined || !source?.[0]?.includes('__metadata(')) return undefined
  // __decorate([..., __metadata("design:type", Team)], Hero.prototype, "team", void 0)
  const end = source.map((text) => text.trimStart()).find((text) => text.startsWith('], ')) ?? ''
  const [, owner = 'a class', member] = /^\], (\w+)(?:\.prototype, "(\w+)")?/.exec(end) ?? []
  return (
    `${member === undefined ? `The constructor of ${owner}` : `${owner}.${member}`} has the type ${type}, a class that is not initialized yet when the decorators of ${owner} run. ` +
    `If it is declared below in the same file, move it up. If two files import each other, move what both need into a third file` +
    (source[0].includes('"design:type"')
      ? `, or write the type of the property as import("./file.js").${type}, which is not evaluated.`
      : '.')
  )
}

/** The lines of the compiled file, from the one that threw. */
function sourceAt(stack: string): readonly string[] | undefined {
  const [, file, line] = /^ +at (?:async )?\(?((?:file:|\/|[A-Za-z]:\\).*):(\d+):\d+\)?$/m.exec(stack) ?? []
  if (file === undefined) return undefined
  try {
    const text = readFileSync(file.startsWith('file:') ? fileURLToPath(file) : file, 'utf8')
    return text.split('\n').slice(Number(line) - 1)
  } catch {
    return undefined // code that was not read from a file
  }
}
