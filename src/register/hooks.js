// The hooks of sync-hooks.js for a Node that runs them in a thread of their own.
import { toJavaScript } from './load.js'
import { typescriptInstead } from './resolve.js'

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context)
  } catch (error) {
    return next(typescriptInstead(error), context)
  }
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const ours = toJavaScript(url, context.format)
  if (!ours) return next(url, context)
  try {
    await next(url, context)
  } catch {
    // As in sync-hooks.js: the call is for tsx, an error of it says nothing.
  }
  return ours
}
