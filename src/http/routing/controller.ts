import { BootError } from '../../core/boot-error.js'
import { checkOptions, fitting, list, type OptionCheck, type OptionChecks } from '../../core/option-checks.js'
import { refuseMissingCall } from '../../core/options.js'
import { MetadataKey } from '../../di/metadata.js'
import { type Lifetime, provideItself, requireLifetime } from '../../di/provider.js'
import { type Constructor, isConstructor, type Token, tokenName } from '../../di/token.js'
import { type Around, requireAround } from './around.js'
import { requireTokens } from './guard.js'
import { compileMiddleware, type Middleware, type MiddlewareStep } from './middleware.js'

/** The options of `@Controller(path, options)`. */
export interface ControllerOptions {
  /** The group in the documentation; by default the class's name without `Controller`. */
  readonly tags?: readonly string[]
  /** Default: `'application'`, unless its constructor injects a value of a request. */
  readonly lifetime?: Lifetime
  /** Connect-style middleware for the routes of this controller, run in order after that of the app, and before their inputs are read. */
  readonly middleware?: readonly Middleware[]
  /** Created before the inputs of each request are validated, although no parameter takes them: classes and guards that refuse requests. */
  readonly requires?: readonly Token[]
  /** Wraps the calls of all handlers of this controller, the first one outermost; see {@link Around}. */
  readonly around?: readonly Around[]
}

/** A list of texts. */
export const requireTags: OptionCheck = list(
  `'Heroes'`,
  fitting((value) => typeof value === 'string', `a text: 'Heroes'`),
)

const CONTROLLER_OPTIONS: OptionChecks<ControllerOptions> = {
  tags: requireTags,
  lifetime: requireLifetime,
  middleware: list('guard', refuseScopedMiddleware),
  requires: requireTokens,
  around: requireAround,
}

export interface ControllerDeclaration {
  readonly path: string
  readonly tags: readonly string[]
  readonly middleware: readonly MiddlewareStep[]
  readonly requires: readonly Token[]
  readonly around: readonly Around[]
}

const controllerKey = new MetadataKey<ControllerDeclaration>()

/**
 * A class whose methods handle requests. The parameters of its constructor, and of each handler, are injected.
 *
 * @param path the prefix of all routes in it. Default `/`.
 * @throws BootError for an unknown option or lifetime.
 * @example
 * @Controller('/heros')
 * class HeroController {
 *   @Get('/:hero_id', Item.of(HeroModel))
 *   async get(hero_id: number, session: Session) { return { data: (await session.get(HeroModel, hero_id)) ?? notFound() } }
 * }
 */
export function Controller(path = '/', options: ControllerOptions = {}): ClassDecorator {
  refuseMissingCall(`@Controller('/path')`, arguments)
  return (target) => {
    const type = target as unknown as Constructor // a class decorator is applied to classes; its type is Function
    checkOptions(`@Controller() on ${type.name}`, options, CONTROLLER_OPTIONS)
    const { tags = [type.name.replace(/Controller$/, '') || type.name], around = [], requires = [] } = options
    controllerKey.write(type, { path, tags, requires, around, middleware: middlewareOf(type, options) })
    if (options.lifetime) provideItself(type, { kind: 'class', type, lifetime: options.lifetime })
  }
}

function middlewareOf({ name }: Constructor, { middleware = [] }: ControllerOptions): readonly MiddlewareStep[] {
  return middleware.map((entry, index) => compileMiddleware(entry, `@Controller() on ${name}: middleware[${index}]`))
}

function refuseScopedMiddleware(entry: unknown, place: string): void {
  if (typeof entry === 'object')
    throw new BootError(`${place} is an object. Write the function itself: it runs for the routes of this controller.`)
}

/**
 * The declaration of a controller. Its routes may be those of the controllers that it extends: what refuses their requests applies to it, too.
 *
 * @throws BootError when the class is no controller.
 */
export function controllerOf(type: Constructor): ControllerDeclaration {
  const declaration = controllerKey.own(type)
  if (!declaration)
    throw new BootError(
      `createApp({ controllers }): ${tokenName(type)} is not a controller. Put @Controller('/path') on the class.`,
    )
  return declarationsAbove(type).reduceRight(
    (below, above) => ({
      ...below,
      requires: joined(above.requires, below.requires),
      around: joined(above.around, below.around),
      middleware: joined(above.middleware, below.middleware, ({ use }) => use),
    }),
    declaration,
  )
}

/** The declarations of the classes that a class extends, the topmost first. */
function declarationsAbove(type: Constructor): readonly ControllerDeclaration[] {
  const parent: unknown = Object.getPrototypeOf(type)
  if (!isConstructor(parent)) return []
  const declaration = controllerKey.own(parent)
  return declaration ? [...declarationsAbove(parent), declaration] : declarationsAbove(parent)
}

/** Both lists; an element that a subclass repeats appears once. */
function joined<T>(above: readonly T[], below: readonly T[], keyOf: (value: T) => unknown = (value) => value): T[] {
  const known = new Set(above.map(keyOf))
  return [...above, ...below.filter((value) => !known.has(keyOf(value)))]
}
