export { connectService, type Service } from "../daemon/service.ts";
