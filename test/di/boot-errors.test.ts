import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  Body,
  Controller,
  createApp,
  Field,
  Get,
  Header,
  Inject,
  Injectable,
  newLifespan,
  Paginate,
  Path,
  Post,
  provide,
  type Provision,
  Query,
  Session,
  token,
} from 'sequitur'
import { BootError } from 'sequitur/errors'
// A class brought as a type only: at run time there is none.
import type { ServiceUnavailable } from 'sequitur'

function bootError(controller: new (...args: never[]) => unknown, providers: Provision[] = []): string {
  try {
    createApp({ controllers: [controller], providers, logger: false })
  } catch (error) {
    assert.ok(error instanceof BootError, String(error))
    return error.message
  }
  return assert.fail('the app was made')
}

@Injectable()
class Clock {}

test('services that inject each other fail at startup, with the circle and a fix', () => {
  class Hen {}
  @Injectable()
  class Egg {
    constructor(@Inject(Hen) readonly hen: unknown) {}
  }
  @Injectable()
  class Farm extends Hen {
    constructor(readonly egg: Egg) {
      super()
    }
  }
  @Controller()
  class Market {
    @Get('/') sell(_egg: Egg) {}
  }
  const message = bootError(Market, [provide(Hen, { class: Farm })])
  assert.match(message, /^Cannot build Market\.sell -> Egg -> Hen:\n/)
  assert.match(
    message,
    /Egg -> Hen -> Egg: these inject each other in a circle\. Move what both need into a third class/,
  )
})

const audit = newLifespan('sqlite://')

@Controller()
class AsksForSession {
  @Get('/') list(_session: Session) {}
}

@Controller()
class AsksForItsSession {
  @Get('/') list(@Inject(audit.Session) _session: Session) {}
}

@Controller()
class AsksForPages {
  @Get('/') list(_paginate: Paginate<object>) {}
}

for (const controller of [AsksForSession, AsksForItsSession, AsksForPages]) {
  test(`${controller.name} of an app without a database fails with the advice to add one`, () => {
    const message = bootError(controller)
    assert.match(message, /nothing provides/)
    assert.match(message, /Session.*createApp\(\{ lifespan \}\)/)
    assert.doesNotMatch(message, /@Injectable|@Field/)
  })
}

test('a factory that injects itself fails at startup', () => {
  const clock = token<string>('clock')
  @Controller()
  class Desk {
    @Get('/') look(@Inject(clock) _now: string) {}
  }
  assert.match(
    bootError(Desk, [provide(clock, { factory: (now) => now, inject: [clock] })]),
    /clock -> clock: these inject/,
  )
})

test('a token without a provider fails at startup, with the path to it and a fix', () => {
  const mailer = token<string>('mailer')
  @Injectable()
  class Post {
    constructor(@Inject(mailer) readonly mail: string) {}
  }
  @Injectable()
  class Office {
    constructor(readonly post: Post) {}
  }
  @Controller()
  class Desk {
    @Get('/') look(_office: Office) {}
  }
  const message = bootError(Desk)
  assert.match(message, /^Cannot build Desk\.look -> Office -> Post:\n/)
  assert.match(message, /Post constructor, parameter 1 'mail': nothing provides mailer/)
  assert.match(message, /Write createApp\(\{ providers: \[provide\(mailer, \{ value: \.\.\. \}\)\] \}\)/)
})

test('what a factory injects, without a provider, fails at startup, with the path to it', () => {
  const [greeting, name] = [token<string>('greeting'), token<string>('name')]
  @Controller()
  class Desk {
    @Get('/') look(@Inject(greeting) _text: string) {}
  }
  const message = bootError(Desk, [provide(greeting, { factory: (who) => who, inject: [name] })])
  assert.match(message, /^Cannot build Desk\.look -> greeting:\nnothing provides name\./)
})

test('a class that is neither injectable nor described fails at startup, with both fixes', () => {
  class Office {}
  @Controller()
  class Desk {
    @Get('/') look(_office: Office) {}
  }
  const message = bootError(Desk)
  assert.match(message, /Desk\.look, parameter 1 '_office' has the type Office, which nothing provides/)
  assert.match(
    message,
    /put @Injectable\(\) on the class, or write createApp\(\{ providers: \[provide\(Office, \.\.\.\)\] \}\)/,
  )
  assert.match(message, /put @Field\(\) on its properties[^]*@Query\(\) _office: Office/)
})

test('a subclass of an injectable class is not injectable by itself', () => {
  class Watch extends Clock {}
  @Controller()
  class Desk {
    @Get('/') look(_watch: Watch) {}
  }
  assert.match(bootError(Desk), /has the type Watch, which nothing provides/)
})

const captives = [
  ['a service of a request', (type: typeof Clock) => Inject(type), /but injects Clock, which lives for one request/],
  [
    'an input',
    () => Query('limit', { type: 'integer' }),
    /but injects an input of the request, which lives for one request/,
  ],
] as const

for (const [what, decorator, message] of captives) {
  test(`a service of the app that injects ${what} fails at startup`, () => {
    @Injectable({ lifetime: 'application' })
    class Office {
      constructor(@(decorator(Clock) as ParameterDecorator) readonly thing: unknown) {}
    }
    @Controller()
    class Desk {
      @Get('/') look(_office: Office) {}
    }
    const text = bootError(Desk)
    assert.match(text, /^Cannot build Desk\.look -> Office:\nOffice lives as long as the app/)
    assert.match(text, message)
    assert.match(text, /Set the lifetime of Office to 'request', or pass the value to its methods/)
  })
}

test('a controller with the lifetime of the app cannot inject a value of a request', () => {
  @Controller('/', { lifetime: 'application' })
  class Desk {
    constructor(readonly clock: Clock) {}
    @Get('/') look() {}
  }
  assert.match(bootError(Desk), /Desk lives as long as the app, but injects Clock/)
})

interface Filter {
  name: string
}

class Hero {
  @Field() name!: string
}
@Controller('/interface')
class WithInterface {
  @Get('/') look(_filter: Filter) {}
}
@Controller('/union')
class WithUnion {
  @Get('/') look(_clock: Clock | null) {}
}
@Controller('/type')
class WithImportedType {
  @Get('/') look(_error: ServiceUnavailable) {}
}
@Controller('/node')
class WithNodeType {
  @Get('/') look(_message: IncomingMessage) {}
}
@Controller('/function')
class WithFunction {
  @Get('/') look(_next: () => void) {}
}
@Controller('/undefined')
class WithUndefined {
  @Get('/') look(_limit: undefined) {}
}
@Controller('/or-undefined')
class WithOrUndefined {
  @Get('/') look(_limit: number | undefined) {}
}
@Controller('/built-in')
class WithBuiltIn {
  @Post('/') add(_map: Map<string, string>) {}
}
@Controller('/body-interface')
class WithBodyInterface {
  @Post('/') add(@Body() _filter: Filter) {}
}
@Controller('/query-type')
class WithQueryOfImportedType {
  @Get('/') look(@Query() _error: ServiceUnavailable) {}
}
@Controller('/mark')
class WithMark {
  @Get('/') look(_limit: number, _name?: string) {}
}
@Controller('/mark-of-header')
class WithMarkOfHeader {
  @Get('/') look(@Header() _tenant?: string) {}
}
@Controller('/mark-of-body')
class WithMarkOfBody {
  @Post('/') add(_hero?: Hero) {}
}
@Controller('/promise')
class WithPromise {
  @Get('/') look(_clock: Promise<Clock>) {}
}
@Controller('/array')
class WithArray {
  @Get('/') look(_names: string[]) {}
}
@Controller('/default')
class WithUntypedDefault {
  @Get('/') look(limit = 10) {
    return limit
  }
}
@Controller('/rest')
class WithRest {
  @Get('/') look(..._names: string[]) {}
}
@Controller('/destructured')
class WithDestructured {
  @Get('/') look(@Query() { length }: string) {
    return length
  }
}
@Controller('/:hero_id')
class WithUnusedVariable {
  @Get('/') look(id: number) {
    return id
  }
}
@Controller('/minified/:hero_id')
class WithUnknownVariable {
  @Get('/') look(@Path('id') id: number) {
    return id
  }
}
@Controller('/bodies')
class WithTwoBodies {
  @Post('/') add(_hero: Hero, _other: Hero) {}
}
@Controller('/get-body')
class WithBodyOfGet {
  @Get('/') add(_hero: Hero) {}
}

const mistakes = [
  [
    'an interface',
    WithInterface,
    /'_filter' has no type at run time \(the compiler emitted 'Object'\)[^]*an interface[^]*@Inject\(token\)/,
  ],
  ['a union', WithUnion, /'_clock' has no type at run time[^]*a union such as 'T \| null'/],
  ['a class imported as a type', WithImportedType, /'_error' has no type at run time[^]*emove 'type' from the import/],
  [
    'a class of Node imported as a type',
    WithNodeType,
    /'_message' has no type at run time[^]*emove 'type' from the import/,
  ],
  [
    'a function',
    WithFunction,
    /'_next' has no type at run time \(the compiler emitted 'Function'\)[^]*@Inject\(token\)/,
  ],
  [
    'a type that was not loaded',
    WithUndefined,
    /'_limit' has no type at run time: [^]*misspelt[^]*two files import each/,
  ],
  [
    'what may be undefined',
    WithOrUndefined,
    /'T \| undefined': [^]*@Query\(\{ type: String, optional: true \}\) _limit\?/,
  ],
  [
    'a class of the language',
    WithBuiltIn,
    /'_map' has the type Map, a class of JavaScript that nothing provides[^]*@Inject\(token\)[^]*@Field\(\)s, or @Body/,
  ],
  [
    'a body that is an interface',
    WithBodyInterface,
    /'_filter': the compiler emitted 'Object'[^]*@Body\(\{ type: HeroInput \}\)/,
  ],
  [
    'a query of an imported type',
    WithQueryOfImportedType,
    /'_error': [^]*imported by 'import type'\)\. Declare its type: @Query\(/,
  ],
  [
    'a mere question mark',
    WithMark,
    /parameter 2 '_name': its '\?' does not exist at run time, so it would be required\. Write @Query\(\{ optional: true \}\) _name\?: \.\.\., or a default/,
  ],
  [
    'a header with a mere question mark',
    WithMarkOfHeader,
    /'_tenant': its '\?' does not exist[^]*@Header\(\{ optional: true \}\)/,
  ],
  [
    'a body with a mere question mark',
    WithMarkOfBody,
    /'_hero': its '\?' does not exist[^]*@Body\(\{ optional: true \}\)/,
  ],
  ['a promise', WithPromise, /'_clock' is a Promise\. Write the type of the value itself/],
  [
    'an array',
    WithArray,
    /'_names' is an array, whose item type is lost at run time\. Write @Query\(\{ type: \[String\] \}\)/,
  ],
  ['a default without a type', WithUntypedDefault, /write the type too, 'limit: number = 1'/],
  ['a rest parameter', WithRest, /'_names' is a rest parameter[^]*@Query\(\{ type: \[String\] \}\) _names: string\[\]/],
  [
    'a destructured input',
    WithDestructured,
    /parameter 1 is destructured and has no name\. Write its name: @Query\('name'\)/,
  ],
  [
    'a variable that no parameter takes',
    WithUnusedVariable,
    /takes the variable :hero_id[^]*the inputs found are id[^]*@Path\('hero_id'\)/,
  ],
  ['a variable that the path has not', WithUnknownVariable, /the path has no variable :id; it has :hero_id/],
  [
    'two bodies',
    WithTwoBodies,
    /WithTwoBodies\.add has two body parameters, but a request has one body\. Put both into one class/,
  ],
  ['a body of a GET', WithBodyOfGet, /'_hero' has the type Hero, which nothing provides[^]*@Query\(\) _hero: Hero/],
] as const

for (const [what, controller, message] of mistakes) {
  test(`a handler with ${what} fails at startup, with a fix`, () => {
    assert.match(bootError(controller), message)
  })
}

test('every boot error names the controller, the method and the parameter', () => {
  for (const [, controller] of mistakes) assert.match(bootError(controller), /With\w+\.(look|add)\b/)
})

test('@Inject() of a class that is not loaded names the parameter', () => {
  assert.throws(() => {
    class Desk {
      look(@Inject(undefined as never) _clock: unknown) {}
    }
    return Desk
  }, /Desk\.look, parameter 1: @Inject\(undefined\) is not a token[^]*two files import each other/)
})

test('a boot error is printed with one description of what is wrong', () => {
  const shown = inspect(caught(() => createApp({ controllers: [WithInterface], logger: false })))
  assert.equal(shown.split('has no type at run time').length, 2)
})

test('two classes of one name fail at startup, and the handler of the second is named', () => {
  const other = () => {
    class Hero {
      @Field() motto!: string
    }
    return Hero
  }
  @Controller()
  class Heroes {
    @Post('/') add(_hero: Hero) {}
    @Post('/others') addOther(@Body({ type: other() }) _hero: unknown) {}
  }
  assert.match(bootError(Heroes), /^Heroes\.addOther: Two different classes are named Hero/)
})

function caught(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

test('a question mark beside what makes a parameter optional, of a variable of the path, or of a service, boots', () => {
  @Controller('/:id')
  class Heroes {
    @Get('/') list(
      id?: number,
      @Query({ optional: true }) name?: string,
      @Query({ default: 1 }) age?: number,
      clock?: Clock,
    ) {
      return [id, name, age, clock]
    }
  }
  createApp({ controllers: [Heroes], logger: false })
})

const pairs: readonly (readonly [names: string, first: ParameterDecorator, second: ParameterDecorator])[] = [
  ['@Query and @Body', Query(), Body()],
  ['@Query twice', Query(), Query()],
  ['@Inject and @Header', Inject(Clock), Header()],
  ['@Path and @Inject', Path(), Inject(Clock)],
]

for (const [names, first, second] of pairs) {
  test(`two decorators of one parameter fail at startup: ${names}`, () => {
    const message =
      /^(Twice\.get|Twice constructor), parameter 1 has two decorators that say where its value is from\. Keep one of @Path, /
    const ofMethod = () => {
      class Twice {
        get(@first @second _id: string) {}
      }
      return Twice
    }
    const ofConstructor = () => {
      class Twice {
        constructor(@first @second _id: string) {}
      }
      return Twice
    }
    for (const declare of [ofMethod, ofConstructor]) assert.throws(declare, { name: 'BootError', message })
  })
}
