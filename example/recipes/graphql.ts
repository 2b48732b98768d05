import {
  type ASTVisitor,
  buildSchema,
  type DocumentNode,
  execute,
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type ValidationContext,
} from 'graphql'
import { Controller, Field, Post, RequestLogger, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

// A property that it does not have is never sent.
const schema = buildSchema(`
  type Hero { id: Int!, name: String!, age: Int! }
  type Query { hero(id: Int!): Hero, heroes(limit: Int = 20): [Hero!]! }
  type Mutation { createHero(name: String!, secret_identity: String!, age: Int!): Hero! }
`)

interface NewHero {
  readonly name: string
  readonly secret_identity: string
  readonly age: number
}

const resolvers = {
  hero: ({ id }: { id: number }, session: Session) => session.get(Hero, id),
  heroes: ({ limit }: { limit: number }, session: Session) =>
    session.all(select(Hero, { order: ['id'], limit: Math.min(Math.max(limit, 0), 100) })),
  createHero: async (values: NewHero, session: Session) => {
    const hero = session.add(Hero.build(values))
    await session.flush()
    return hero
  },
}

const MOST_TOKENS = 1000
const MOST_LEVELS = 8

class Operation {
  @Field({ maxLength: 20_000 }) query!: string
  @Field({ type: 'any', optional: true }) variables?: unknown
  @Field({ type: String, optional: true, nullable: true }) operationName?: string | null
}

@Controller('/graphql')
export class GraphqlController {
  /** One transaction for the whole operation: after an error nothing of it is kept. */
  @Post('/', { status: 200 })
  async run({ query, variables, operationName }: Operation, session: Session, logger: RequestLogger) {
    const document = documentOf(query)
    if (!('kind' in document)) return { errors: document.map((error) => error.toJSON()) }
    const { data, errors } = await execute({
      schema,
      document,
      rootValue: resolvers,
      contextValue: session,
      variableValues: variables as Readonly<Record<string, unknown>>,
      operationName: operationName ?? null,
    })
    if (!errors) return { data }
    session.rollback()
    return { data, errors: errors.map((error) => shown(error, logger)) }
  }
}

/** The document, or what is wrong with it. */
function documentOf(query: string): DocumentNode | readonly GraphQLError[] {
  try {
    const document = parse(query, { maxTokens: MOST_TOKENS })
    const errors = validate(schema, document, [...specifiedRules, maxLevels])
    return errors.length > 0 ? errors : document
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
}

/** A rule: selections are nested so deep at most. */
function maxLevels(context: ValidationContext): ASTVisitor {
  let level = 0
  return {
    SelectionSet: {
      enter(node) {
        if (++level === MOST_LEVELS + 1) context.reportError(new GraphQLError('Too many levels', { nodes: node }))
      },
      leave: () => void level--,
    },
  }
}

/** Without the message of an error of the program or the database, which is for the log. */
function shown({ originalError, path, message }: GraphQLError, logger: RequestLogger): object {
  if (!originalError) return { message, path }
  logger.error('A resolver failed:', originalError)
  return { message: 'It could not be done', path }
}
