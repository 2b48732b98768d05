import { Field } from 'sequitur'
import { Event } from 'sequitur/feeds'

@Event('hero.saved')
export class HeroSaved {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
}
