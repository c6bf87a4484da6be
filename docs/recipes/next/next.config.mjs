export default {
  serverExternalPackages: ["animal-store"]
}
