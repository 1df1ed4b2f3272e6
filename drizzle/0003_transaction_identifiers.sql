-- A transaction of a receivable may be named by an identifier or by a hash: only the first can be looked up as one.
create function mirror.uuid_or_null(text) returns uuid language sql immutable strict parallel safe as $$
  select case when $1 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $1::uuid end
$$;
