// The test that the README shows is run as one of these.
import '../../example/recipes/heros.test.js'
