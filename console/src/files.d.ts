// Files that are no TypeScript: styles are imported for their effect, pictures for their address.

declare module "*.css";

declare module "*.svg" {
  const address: string;
  export default address;
}
