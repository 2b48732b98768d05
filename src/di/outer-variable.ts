import type { Runtime, Session } from 'node:inspector'
import { loadLater } from '../core/memo.js'

const inspector = loadLater<typeof import('node:inspector')>('node:inspector')

type Method = (...args: never[]) => unknown

/** The values that this module and the code that the inspector runs hand each other. */
interface Exchange {
  readonly method: Method
  found?: { readonly value: unknown }
}

const KEY = Symbol.for('sequitur/outerVariable')
const EXCHANGE = `globalThis[Symbol.for('sequitur/outerVariable')]`

/**
 * The value that a name has around a method, also if it is an import: the text of the method does not show it, but the inspector of V8 does. Takes
 * milliseconds.
 *
 * @returns undefined if it is not known: there is no such variable, it has no object as its value yet, or the runtime has no such inspector.
 */
export function outerVariable(method: Method, name: string): { readonly value: unknown } | undefined {
  const exchange: Exchange = { method }
  const global = globalThis as { [KEY]?: Exchange }
  global[KEY] = exchange
  try {
    lookUp(name)
  } catch {
    return undefined
  } finally {
    delete global[KEY]
  }
  return exchange.found
}

function lookUp(name: string): void {
  const session = new (inspector().Session)()
  session.connect()
  try {
    const scopes = scopesOf(session)
    const variables = scopes.flatMap(({ value }) => propertiesOf(session, value).result)
    const objectId = variables.find((variable) => variable.name === name)?.value?.objectId
    if (objectId === undefined) return
    const functionDeclaration = `function () { ${EXCHANGE}.found = { value: this } }`
    session.post('Runtime.callFunctionOn', { objectId, functionDeclaration })
  } finally {
    session.disconnect()
  }
}

/** From the innermost to the outermost. */
function scopesOf(session: Session): readonly Runtime.PropertyDescriptor[] {
  const method = answerTo<Runtime.EvaluateReturnType>((answer) =>
    session.post('Runtime.evaluate', { expression: `${EXCHANGE}.method` }, answer),
  ).result
  const scopes = propertiesOf(session, method).internalProperties?.find(({ name }) => name === '[[Scopes]]')?.value
  return propertiesOf(session, scopes).result.filter(({ name }) => /^\d+$/.test(name))
}

function propertiesOf(session: Session, object: Runtime.RemoteObject | undefined): Runtime.GetPropertiesReturnType {
  const objectId = object?.objectId
  if (objectId === undefined) return { result: [] }
  return answerTo((answer) => session.post('Runtime.getProperties', { objectId, ownProperties: true }, answer))
}

/** On Node, a session that is connected to its own thread answers at once. @throws the error that it answers with; an Error if it answers later. */
function answerTo<T>(post: (answer: (error: Error | null, answer: T) => void) => void): T {
  const answers: { readonly error: Error | null; readonly answer: T }[] = []
  // The callback does not throw: Bun calls it later, when no caller could catch the error, and the process would end.
  post((error, answer) => answers.push({ error, answer }))
  const [first] = answers
  if (first === undefined) throw new Error('The inspector has not answered.')
  if (first.error) throw first.error
  return first.answer
}
