import { Controller, Field, Post } from 'sequitur'

class Flight {
  @Field({ enum: ['flight'] }) kind!: 'flight'
  @Field({ type: 'integer', minimum: 1, description: 'In km/h' }) speed!: number
}

class Strength {
  @Field({ enum: ['strength'] }) kind!: 'strength'
  @Field({ type: 'integer', minimum: 1, description: 'In tons' }) load!: number
}

class Powers {
  @Field({ oneOf: [Flight, Strength], discriminator: 'kind' }) strongest!: Flight | Strength
  @Field({ oneOf: [Flight, Strength], discriminator: 'kind', optional: true }) others?: (Flight | Strength)[]
}

@Controller('/powers')
export class PowerController {
  @Post('/compare', String, { status: 200 })
  compare({ strongest }: Powers) {
    return strongest instanceof Flight ? `${strongest.speed} km/h` : `${strongest.load} t`
  }
}
