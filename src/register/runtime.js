// The functions that compiled code calls. Names and arguments are those of oxc's helpers, except that types are functions (see lower.js).
export { usingCtx } from './using.js'

/** @typedef {(...args: any[]) => any} Decorator */

/** @type {{ decorate?: Decorator, metadata?: (key: string, value: unknown) => Decorator }} */
const reflect = Reflect

/**
 * @param {(Decorator | undefined)[]} decorators
 * @param {any} target a class, or the owner of the member
 * @param {[key: PropertyKey, descriptor: null | undefined] | []} member
 */
export function decorate(decorators, target, ...member) {
  return member.length === 0 ? decorateClass(decorators, target) : decorateMember(decorators, target, ...member)
}

/**
 * @param {(Decorator | undefined)[]} decorators
 * @param {any} type
 */
function decorateClass(decorators, type) {
  if (reflect.decorate) return reflect.decorate(decorators, type)
  return decorators.reduceRight((current, decorator) => decorator?.(current) || current, type)
}

/**
 * @param {(Decorator | undefined)[]} decorators
 * @param {any} owner
 * @param {PropertyKey} key
 * @param {null | undefined} descriptor null for a method or an accessor, undefined for a field
 */
function decorateMember(decorators, owner, key, descriptor) {
  const own = descriptor === null ? Object.getOwnPropertyDescriptor(owner, key) : undefined
  const result = reflect.decorate
    ? reflect.decorate(decorators, owner, key, own)
    : decorators.reduceRight((current, decorator) => decorator?.(owner, key, current) || current, own)
  if (result) Object.defineProperty(owner, key, result)
  return result
}

/**
 * Does nothing without reflect-metadata, as in the output of tsc: the code that reads the metadata reports that it is missing.
 * @param {string} key
 * @param {() => unknown} read
 * @returns {Decorator}
 */
export function metadataOf(key, read) {
  return (target, member) => reflect.metadata?.(key, typesOf(read, target, member))(target, member)
}

/**
 * @param {() => unknown} read
 * @param {any} target a class, or the owner of the member
 * @param {PropertyKey | undefined} member
 */
function typesOf(read, target, member) {
  try {
    return read()
  } catch (error) {
    const [, type] =
      /^Cannot access '(.+)' before initialization$/.exec(error instanceof Error ? error.message : '') ?? []
    if (!type) throw error
    throw new ReferenceError(notLoaded(type, target, member), { cause: error })
  }
}

/**
 * @param {string} type
 * @param {any} target
 * @param {PropertyKey | undefined} member
 */
function notLoaded(type, target, member) {
  const owner = typeof target === 'function' ? target.name : target.constructor.name
  const where = member === undefined ? `The constructor of ${owner}` : `${owner}.${String(member)}`
  const isProperty =
    member !== undefined && typeof Object.getOwnPropertyDescriptor(target, member)?.value !== 'function'
  return (
    `${where} has the type ${type}, a class that is not initialized yet when the decorators of ${owner} run. ` +
    `If it is declared below in the same file, move it up. If two files import each other, move what both need into a third file` +
    (isProperty ? `, or write the type of the property as import("./file.js").${type}, which is not evaluated.` : '.')
  )
}

/**
 * @param {number} index
 * @param {Decorator} decorator
 * @returns {Decorator}
 */
export function decorateParam(index, decorator) {
  return (target, key) => decorator(target, key, index)
}
