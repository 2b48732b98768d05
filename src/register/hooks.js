// The asynchronous form of the hooks in sync-hooks.js, for Node versions that run hooks in a thread of their own.
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
  const compiled = toJavaScript(url, context.format)
  if (!compiled) return next(url, context)
  try {
    await next(url, context)
  } catch {
    // As in sync-hooks.js: only tsx needs this call, so its error does not matter.
  }
  return compiled
}
