import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import {
  type AppOptions,
  Controller,
  Factory,
  Field,
  Get,
  guard,
  Header,
  Injectable,
  provide,
  Security,
  ServiceUnavailable,
  unauthorized,
} from 'sequitur'
import { settings } from 'sequitur/settings'

class OpenIdSettings {
  /** As in the claim `iss`: `https://login.example/realms/heroes`. */
  @Field({ format: 'uri' }) issuer!: string
  /** The name of this API, as in the claim `aud`. */
  @Field({ minLength: 1 }) audience!: string
  /** The public keys of the issuer: `jwks_uri` of its `/.well-known/openid-configuration`. */
  @Field({ format: 'uri' }) jwksUri!: string
}

/** Verifies access tokens. One for the app: it keeps the keys of the issuer, and reads them again when a token names a new one. */
class Tokens {
  readonly #settings: OpenIdSettings
  readonly #keys: ReturnType<typeof createRemoteJWKSet>

  constructor(given: OpenIdSettings) {
    this.#settings = given
    this.#keys = createRemoteJWKSet(new URL(given.jwksUri), { timeoutDuration: 2_000, cooldownDuration: 1_000 })
  }

  async verify(token: string) {
    const { issuer, audience } = this.#settings
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        issuer,
        audience,
        algorithms: ['RS256', 'ES256'], // never those with a shared secret: a public key would be one
        requiredClaims: ['sub', 'exp'],
        clockTolerance: 5,
      })
      return payload
    } catch (error) {
      // A token that cannot be checked is not a wrong one: the client should try again, and not log in again.
      if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) throw unreachable(error)
      if (error.code === 'ERR_JOSE_GENERIC') throw unreachable(error) // the issuer answers with another status than 200
      return unauthorized('Send the header Authorization: Bearer <token>', {
        headers: { 'www-authenticate': 'Bearer' },
      })
    }
  }
}

function unreachable(cause: unknown): ServiceUnavailable {
  return new ServiceUnavailable('The keys of the issuer cannot be read.', { cause, headers: { 'retry-after': '2' } })
}

/** The user of a valid access token. */
@Injectable()
@Security({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
export class OpenIdUser {
  constructor(
    readonly id: string,
    readonly scopes: ReadonlySet<string>,
  ) {}

  @Factory()
  static async of(tokens: Tokens, @Header({ optional: true }) authorization: string = '') {
    const { sub = '', scope } = await tokens.verify(authorization.replace(/^Bearer /i, ''))
    return new OpenIdUser(sub, new Set(typeof scope === 'string' ? scope.split(' ') : []))
  }
}

const mayRead = guard([OpenIdUser], ({ scopes }) => scopes.has('heroes:read'), { scopes: ['heroes:read'] })

@Controller('/me')
class MeController {
  @Get('/', { id: String })
  me({ id }: OpenIdUser) {
    return { id }
  }

  @Get('/heroes', { heroes: [String] }, { requires: [mayRead] })
  heroes({ id }: OpenIdUser) {
    return { heroes: [`Hero of ${id}`] }
  }
}

// Reads ISSUER, AUDIENCE and JWKS_URI.
export function openIdOptions(env = process.env): AppOptions {
  const tokens = provide(Tokens, {
    factory: (given: OpenIdSettings) => new Tokens(given),
    inject: [OpenIdSettings],
    lifetime: 'application',
  })
  return { controllers: [MeController], providers: [settings(OpenIdSettings, { env }), tokens] }
}
