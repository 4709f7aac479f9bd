# evalsite in one container: by default with SQLite and its jobs in the web process. docker-compose.yml has the rest.
ARG BASE=python:3.12-slim
FROM $BASE
# The time of the commit, where `make image` builds: files that are made here have it.
ARG SOURCE_DATE_EPOCH

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    EVALSITE_DATA=/data \
    PYTHONPATH=/app

# Pillow shapes Arabic and Indic letters with the system's FriBidi.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libfribidi0 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# What changes rarely comes first: this installs the dependencies and the command `evalsite`, which finds the rest in
# /app (PYTHONPATH).
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN pip install --constraint constraints.txt '.[metrics,mturk,neural,s3]'

COPY . .
# The key of this line is thrown away; without one, all containers of the image would share what it makes.
RUN useradd --system --uid 10001 --home-dir /data evalsite \
    && mkdir --parents /data/media /backups \
    && SECRET_KEY=$(python -c 'import secrets; print(secrets.token_urlsafe())') python manage.py collectstatic --noinput \
    && chown --recursive evalsite /data /backups \
    && chmod 700 /backups
USER evalsite

EXPOSE 8000
CMD ["gunicorn", "--config", "python:evalsite.gunicorn_conf"]
