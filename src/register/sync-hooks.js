// The hooks of hooks.js for a Node that runs them in the thread of the program.
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
  const ours = toJavaScript(url, context.format)
  if (!ours) return next(url, context)
  try {
    // `tsx watch` reruns the program only for files that its own hook has seen.
    next(url, context)
  } catch {
    // Nobody else in the chain understands TypeScript: that is what we are here for.
  }
  return ours
}
