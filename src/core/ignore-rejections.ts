import { types } from 'node:util'

/** The most parts of a value that are searched. */
const MAX_PARTS = 100_000

/**
 * Handles the rejections of the promises in a value that is refused: nothing awaits them, and an error of one would end the process. Calls no getter.
 */
export function ignoreRejections(value: unknown): void {
  const objects = new Set<object>()
  let parts = 0
  const add = (part: unknown) => {
    parts++
    if (typeof part === 'object' && part !== null) objects.add(part)
  }
  add(value)
  for (const object of objects) {
    if (types.isPromise(object)) ignoreRejection(object)
    else if (!types.isProxy(object) && !ArrayBuffer.isView(object))
      for (const part of partsOf(object)) {
        if (parts >= MAX_PARTS) return
        add(part)
      }
  }
}

function* partsOf(object: object): Generator<unknown> {
  // By index: the keys of a long list would be made all at once.
  if (Array.isArray(object)) for (let index = 0; index < object.length; index++) yield valueOf(object, index)
  else for (const name of Object.keys(object)) yield valueOf(object, name)
}

function valueOf(object: object, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value
}

function ignoreRejection(promise: Promise<unknown>): void {
  try {
    Promise.prototype.then.call(promise, undefined, () => {}) // a subclass may have a then() of its own
  } catch {
    // Its class makes no other promise.
  }
}
