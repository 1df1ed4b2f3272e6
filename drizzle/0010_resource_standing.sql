ALTER TABLE "mirror"."resource_versions" ADD COLUMN "status" text;--> statement-breakpoint
ALTER TABLE "mirror"."resource_versions" ADD COLUMN "final" boolean;--> statement-breakpoint
ALTER TABLE "mirror"."resource_versions" ADD COLUMN "rate" numeric;--> statement-breakpoint
ALTER TABLE "mirror"."resource_versions" ADD COLUMN "fee_currency" text;