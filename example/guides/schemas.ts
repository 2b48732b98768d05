import { Controller, Field, Post } from 'sequitur'

class Stop {
  @Field({ minLength: 1, maxLength: 100 }) city!: string
  @Field({ type: 'integer', minimum: 1, default: 1 }) nights!: number
}

class Trip {
  @Field({ format: 'email' }) email!: string
  @Field({ type: [Stop], minItems: 1 }) stops!: Stop[]
  @Field({ optional: true }) start?: Date
}

@Controller('/trips')
export class TripController {
  @Post('/', { nights: 'integer' })
  plan({ stops }: Trip) {
    return { nights: stops.reduce((sum, { nights }) => sum + nights, 0) }
  }
}
