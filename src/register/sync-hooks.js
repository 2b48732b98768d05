// The module hooks, for Node versions that run hooks in the thread of the program.
import { toJavaScript } from './load.js'
import { typescriptInstead } from './resolve.js'

/** @typedef {import('node:module').ResolveHookContext} ResolveContext */
/** @typedef {import('node:module').ResolveFnOutput} Resolved */
/** @typedef {import('node:module').LoadHookContext} LoadContext */
/** @typedef {import('node:module').LoadFnOutput} Loaded */

/**
 * @param {string} specifier
 * @param {ResolveContext} context
 * @param {(specifier: string, context: ResolveContext) => Resolved} next
 */
export function resolve(specifier, context, next) {
  try {
    return next(specifier, context)
  } catch (error) {
    return next(typescriptInstead(error), context)
  }
}

/**
 * @param {string} url
 * @param {LoadContext} context
 * @param {(url: string, context: LoadContext) => Loaded} next
 */
export function load(url, context, next) {
  const compiled = toJavaScript(url, context.format)
  if (!compiled) return next(url, context)
  try {
    // `tsx watch` restarts the program only when a file that its own hook has loaded changes.
    next(url, context)
  } catch {
    // Without tsx, no other hook can load TypeScript.
  }
  return compiled
}
