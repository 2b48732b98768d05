import { NOT_LOADED } from '../core/options.js'
import { howToEmitTypes } from './emitted-types.js'
import { describeParameter, type Parameter } from './parameter.js'
import { howToProvide } from './provider.js'
import { type Constructor, isConstructor, type Token, tokenName } from './token.js'

const COMMANDS = `  run     tsx --import sequitur/register src/app.ts
  test    node --import tsx --import sequitur/register --test
  build   tsc, with "extends": "sequitur/tsconfig.json" in tsconfig.json`

/** The message for a parameter in a file that was compiled without parameter types. */
export function missingMetadata(parameter: Parameter): string {
  return `${describeParameter(parameter)}: no parameter types at run time.
The file was compiled without "emitDecoratorMetadata" (tsx and esbuild never emit it)${parameter.member === undefined ? ', or the class has no decorator' : ''}.
${howToEmitTypes() ?? COMMANDS}
  or name the types: ${
    parameter.member === undefined
      ? `constructor(@Inject(Session) ${parameter.name ?? 'session'}: Session) {}`
      : `{ params: [Paginate, Session] } in the options of the decorator of ${parameter.member}()`
  }`
}

/** The message for a rest parameter, `...values`. */
export function restParameter(parameter: Parameter): string {
  const { name = 'values' } = parameter
  return (
    `${describeParameter(parameter)} is a rest parameter, whose values cannot be injected. ` +
    `Write a list instead: @Query({ type: [String] }) ${name}: string[].`
  )
}

/** The message for a parameter whose type can be neither built nor read from the request. */
export function notInjectable(parameter: Parameter): string {
  return `${describeParameter(parameter)} ${reason(parameter)}`
}

function reason({ type, name = 'value' }: Parameter): string {
  switch (type) {
    case undefined:
      return `has no type at run time: its type was undefined when the decorator ran. ${NOT_LOADED}`
    case Object:
      return (
        `has no type at run time (the compiler emitted 'Object'). It is one of these:\n` +
        `  a class imported by 'import type', or by 'import { type X }': remove 'type' from the import\n` +
        `  a name that does not exist: npx tsc --noEmit reports it\n` +
        `  a default without a type: write the type too, '${name}: number = 1'\n` +
        `  a union such as 'T | null' or 'T | undefined': declare it, @Query({ type: String, optional: true }) ${name}?: string\n` +
        `  an interface, an alias or 'any': use a class, or declare it: @Inject(token), @Query({ type: String }), @Body({ type: X })`
      )
    case Function:
      return (
        `has no type at run time (the compiler emitted 'Function'): the class is imported by 'import type', or the type is a function. ` +
        `Remove 'type' from the import, or write a token: @Inject(token).`
      )
    case Promise:
      return `is a Promise. Write the type of the value itself; a factory may be asynchronous: provide(token, { factory: async () => ... }).`
    case Array:
      return `is an array, whose item type is lost at run time. Write @Query({ type: [String] }) or @Body({ type: [Item] }).`
    default:
      return classReason(type, name)
  }
}

/** A sentence with what to write so that a class is provided. */
function adviceFor(type: Constructor): string {
  return (
    howToProvide.for(type) ??
    `Put @Injectable() on the class, or write createApp({ providers: [provide(${tokenName(type)}, ...)] }).`
  )
}

/** The message for a token that nothing provides. */
export function noProvider(token: Token, parameter: Parameter | undefined): string {
  const where = parameter ? `${describeParameter(parameter)}: ` : ''
  const advice = isConstructor(token)
    ? adviceFor(token)
    : `Write createApp({ providers: [provide(${tokenName(token)}, { value: ... })] }).`
  return `${where}nothing provides ${tokenName(token)}. ${advice}`
}

/** The message for a service of the app that injects a value of a request. */
export function lifetimeConflict(service: string, injected: string): string {
  return (
    `${service} lives as long as the app, but injects ${injected}, which lives for one request: ` +
    `it would keep the one of the first request forever. Set the lifetime of ${service} to 'request', or pass the value to its methods.`
  )
}

/** The message for a value in `requires` that lives as long as the app. */
export function uselessRequirement(handler: string, name: string): string {
  return (
    `${handler} requires ${name}, which lives as long as the app, so that it checks no request. ` +
    `Write a class whose constructor, or @Factory(), reads the request, or guard([User], (user) => ...).`
  )
}

/** The message for tokens that inject each other; the first one is repeated at the end. */
export function cycle(names: readonly string[]): string {
  return (
    `${names.join(' -> ')}: these inject each other in a circle. ` +
    `Move what both need into a third class, or pass one to a method of the other.`
  )
}

function classReason(type: unknown, name: string): string {
  const className = typeof type === 'function' ? type.name : String(type)
  const own = isConstructor(type) ? howToProvide.for(type) : undefined
  if (own !== undefined) return `has the type ${className}, which nothing provides. ${own}`
  if (Reflect.get(globalThis, className) === type)
    return (
      `has the type ${className}, a class of JavaScript that nothing provides. For a service, write a token: @Inject(token). ` +
      `For what the client sends, write a class with @Field()s, or @Body({ type: 'any' }) for any JSON.`
    )
  return (
    `has the type ${className}, which nothing provides. For a service, put @Injectable() on the class, or write createApp({ providers: [provide(${className}, ...)] }). ` +
    `For what the client sends, put @Field() on its properties: it is the body of POST, PUT and PATCH, ` +
    `or the query by @Query() ${name}: ${className}.`
  )
}
