// What lowered code calls: the names and the arguments are oxc's.
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
 * @param {null | undefined} descriptor null of a method or an accessor, undefined of a field
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
 * Nothing without reflect-metadata, as with tsc: what reads the metadata is who can say that it is missing.
 * @param {string} key
 * @param {unknown} value
 */
export function decorateMetadata(key, value) {
  return reflect.metadata?.(key, value)
}

/**
 * @param {number} index
 * @param {Decorator} decorator
 * @returns {Decorator}
 */
export function decorateParam(index, decorator) {
  return (target, key) => decorator(target, key, index)
}
