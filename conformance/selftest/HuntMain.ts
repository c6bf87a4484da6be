/** The former name of `main.ts`. */
import "./main.ts"
