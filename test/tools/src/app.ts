import { Controller, Field, Get, Injectable, Post, Query, type AppOptions } from 'sequitur'

@Injectable()
class Clock {
  year() {
    return 2026
  }
}

class Hero {
  @Field() name!: string
  @Field({ type: 'integer' }) age!: number
}

@Controller('/heroes')
class HeroController {
  constructor(readonly clock: Clock) {}
  @Get('/:id')
  get(id: number, short: boolean = false, @Query({ optional: true }) age?: number) {
    return { id, short, age: age ?? 'any', year: this.clock.year() }
  }
  @Post('/', Hero)
  add(hero: Hero) {
    return hero
  }
}

export const options: AppOptions = { controllers: [HeroController] }
