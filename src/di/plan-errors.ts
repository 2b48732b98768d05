import { NOT_LOADED } from '../core/options.js'
import { describeParameter, type Parameter } from './parameter.js'
import { howToProvide } from './provider.js'
import { type Constructor, isConstructor, tokenName } from './token.js'

/** The text for a file that was compiled without parameter types. */
export function missingMetadata(parameter: Parameter): string {
  return `${describeParameter(parameter)}: no parameter types at run time.
The file was compiled without "emitDecoratorMetadata" (tsx and esbuild never emit it)${parameter.member === undefined ? ', or the class has no decorator' : ''}.
  run     tsx --import sequitur/register src/app.ts
  test    node --import tsx --import sequitur/register --test
  build   tsc, with "extends": "sequitur/tsconfig.json" in tsconfig.json
  or name the types yourself: ${
    parameter.member === undefined
      ? `constructor(@Inject(Session) ${parameter.name ?? 'session'}: Session) {}`
      : `@Get('/', Response, { params: [Paginate, Session] }) ${parameter.member}(...) {}`
  }`
}

/** The text for `...values`: neither the compiler nor the source says how many there are. */
export function restParameter(parameter: Parameter): string {
  const { name = 'values' } = parameter
  return (
    `${describeParameter(parameter)} is a rest parameter, and nothing says what to pass for it. ` +
    `Ask for a list: @Query({ type: [String] }) ${name}: string[].`
  )
}

/** The text for a parameter whose emitted type says nothing that could be built or bound. */
export function notInjectable(parameter: Parameter): string {
  return `${describeParameter(parameter)} ${reason(parameter)}`
}

function reason({ type, name = 'value' }: Parameter): string {
  switch (type) {
    case undefined:
      return `has no type at run time: what its type names was undefined when the decorator ran. ${NOT_LOADED}`
    case Object:
      return (
        `has no type at run time (the compiler emitted 'Object'). It is one of these:\n` +
        `  a class brought by 'import type', or by 'import { type X }': drop 'type' from the import\n` +
        `  a name that does not exist: the compiler says so, npx tsc --noEmit\n` +
        `  a default without a type: write the type beside it, '${name}: number = 1'\n` +
        `  a union such as 'T | null' or 'T | undefined': say what it is, @Query({ type: String, optional: true }) ${name}?: string\n` +
        `  an interface, an alias or 'any': use a class, or say what it is: @Inject(token), @Query({ type: String }), @Body({ type: X })`
      )
    case Function:
      return (
        `has no type at run time (the compiler emitted 'Function'): the class came by 'import type', or the type is a function. ` +
        `Drop 'type' from the import, or name a token: @Inject(token).`
      )
    case Promise:
      return `is a Promise. Ask for the value itself; a factory may be asynchronous: provide(token, { factory: async () => ... }).`
    case Array:
      return `is an array, whose item type is lost at run time. Write @Query({ type: [String] }) or @Body({ type: [Item] }).`
    default:
      return classReason(type, name)
  }
}

/** What to write so that a class is provided. */
export function adviceFor(type: Constructor): string {
  return (
    howToProvide.inherited(type) ??
    `Mark the class @Injectable(), or give createApp({ providers: [provide(${tokenName(type)}, ...)] }).`
  )
}

function classReason(type: unknown, name: string): string {
  const className = typeof type === 'function' ? type.name : String(type)
  if (Reflect.get(globalThis, className) === type)
    return (
      `asks for ${className}, which is JavaScript's own, and which nothing provides. Where it is a service, give it a token: @Inject(token). ` +
      `Where it is what the client sends, write a class with @Field()s, or @Body({ type: 'any' }) for any JSON.`
    )
  const asks = `asks for ${className}, which nothing provides.`
  const own = isConstructor(type) ? howToProvide.inherited(type) : undefined
  if (own !== undefined) return `${asks} ${own}`
  return (
    `${asks} Mark the class @Injectable(), or give createApp({ providers: [provide(${className}, ...)] }). ` +
    `If it is what the client sends, give its properties @Field() (a body on POST, PUT and PATCH), ` +
    `or mark the parameter: @Query() ${name}: ${className}.`
  )
}
